/* SPDX-License-Identifier: MIT */
/*
 * go_rows_test.c - rows of a handmade table of functions, in both versions of its format, and of
 * damaged ones.
 */
#include "go_rows.h"

#include <errno.h>

#include "made_go_table.h"

#define CODE_BYTES 0x100u

static uint8_t code_bytes[CODE_BYTES];

/* The table as its bytes are now. */
static struct go_code read_code(const struct made_go_table *table)
{
	struct go_code code = {.code = code_bytes, .lo = MADE_TEXT, .hi = MADE_TEXT + CODE_BYTES};

	CHECK_EQ(hi_go_table_open(table->bytes, sizeof(table->bytes), 0, &code.table), 0);
	return code;
}

static struct go_code finish(struct made_go_table *table, uint32_t end)
{
	made_go_finish(table, end);
	return read_code(table);
}

struct wanted {
	uint32_t pc;
	int kind, cfa;
};

static void check_rows(const struct go_code *code, const struct wanted *wanted, size_t count)
{
	struct go_rows rows;

	CHECK_EQ(go_rows_make(code, &rows), 0);
	for (size_t i = 0; i < rows.count && i < count; i++)
		if (rows.row[i].pc != wanted[i].pc || rows.row[i].kind != wanted[i].kind ||
		    rows.row[i].cfa != wanted[i].cfa || rows.row[i].bp_slot)
			UNIT_FAIL("row %zu: pc 0x%x kind %d cfa %d bp %d", i, rows.row[i].pc,
				  rows.row[i].kind, rows.row[i].cfa, rows.row[i].bp_slot);
	CHECK_EQ(rows.count, count);
	go_rows_free(&rows);
}
#define CHECK_ROWS(code, ...)                                     \
	check_rows(&(code), (const struct wanted[]){__VA_ARGS__}, \
		   sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

/* sp at entry for 4 bytes, 24 bytes below for 16, at entry again for 12 */
#define FRAME_OF_24 "\x02\x04\x30\x10\x2f\x0c"

UNIT_TEST(functions_of_both_versions)
{
	for (int is_1_20 = 0; is_1_20 < 2; is_1_20++) {
		struct made_go_table table = {.is_1_20 = is_1_20};

		made_go_function(&table, 0x10, "main.f", FRAME_OF_24, 0);
		made_go_function(&table, 0x40, "runtime.goexit", "\x02\x10", 1);
		made_go_function(&table, 0x60, "runtime.gogo", "\x02\x10", 2);
		made_go_function(&table, 0x80, "runtime.cgocallback", "\x82\x01\x10", 2);
		const struct go_code code = finish(&table, 0xa0);

		CHECK_ROWS(code, {0x10, HI_UNWIND_SP, 1}, {0x14, HI_UNWIND_SP, 4},
			   {0x24, HI_UNWIND_SP, 1}, {0x30, HI_UNWIND_NONE, 0},
			   {0x40, HI_UNWIND_END, 0}, {0x60, HI_UNWIND_NONE, 0},
			   {0x80, HI_UNWIND_SP, 9}, {0x90, HI_UNWIND_NONE, 0},
			   {0xa0, HI_UNWIND_NONE, 0});
	}
}

/* What code adds where the table was relocated counts instead of what the table says. */
UNIT_TEST(only_what_lies_in_the_code)
{
	struct made_go_table table = {0};
	struct go_code code;

	made_go_function(&table, 0x10, "main.f", "\x02\x10", 0);
	made_go_function(&table, 0x40, "main.g", "\x02\x10", 0);
	code = finish(&table, 0x60);
	code.table.text = MADE_TEXT - 0x20;
	CHECK_ROWS(code, {0x20, HI_UNWIND_SP, 1}, {0x30, HI_UNWIND_NONE, 0},
		   {0x40, HI_UNWIND_NONE, 0});
}

UNIT_TEST(a_call_of_c_comes_back_from_another_stack)
{
	/*
	 * call *%rax; mov 0x30(%rsp),%rdi; mov 8(%rdi),%rsi; sub 0x28(%rsp),%rsi; and where Go was
	 * on that stack already: call *%rax; mov 0x28(%rsp),%rsi; mov %rsi,%rsp
	 */
	static const uint8_t other[] = {0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48,
					0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28},
			     same[] = {0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4};
	struct made_go_table table = {0};

	memset(code_bytes, 0x90, sizeof(code_bytes));
	memcpy(code_bytes + 0x20, other, sizeof(other));
	memcpy(code_bytes + 0x40, same, sizeof(same));
	made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x21, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(5, 6)}, {0x22, HI_UNWIND_NONE, 0},
		   {0x41, HI_UNWIND_SPILLED, HI_UNWIND_PAIR(5, 1)}, {0x42, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

/* Go 1.22 and later: a distance of 0, and thread-local storage loaded first. */
UNIT_TEST(a_call_of_c_by_a_later_version)
{
	static const uint8_t later[] = {0xe8, 0,    0,    0,    0,    0x64, 0x48, 0x8b, 0x0c,
					0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x7c, 0x24,
					0x08, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x34, 0x24};
	struct made_go_table table = {.is_1_20 = true};

	memset(code_bytes, 0x90, sizeof(code_bytes));
	memcpy(code_bytes + 0x20, later, sizeof(later));
	made_go_function(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x24, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(0, 1)}, {0x25, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

/* As a return address it is its first byte: the row of the byte before is what a walker finds. */
UNIT_TEST(the_mark_of_a_goroutine_that_waits_for_c)
{
	struct made_go_table table = {0};

	made_go_function(&table, 0x10, "main.f", FRAME_OF_24, 0);
	made_go_function(&table, 0x40, "runtime.systemstack_switch", "\x02\x20", 0);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_SP, 1}, {0x14, HI_UNWIND_SP, 4}, {0x24, HI_UNWIND_SP, 1},
		   {0x30, HI_UNWIND_NONE, 0}, {0x3f, HI_UNWIND_SP, 1}, {0x40, HI_UNWIND_SP, 1},
		   {0x60, HI_UNWIND_NONE, 0});
}

static int open_table(const struct made_go_table *table, size_t size)
{
	struct hi_go_table opened;

	return hi_go_table_open(table->bytes, size, 0, &opened);
}

UNIT_TEST(what_is_no_table_or_a_damaged_one)
{
	struct made_go_table table = {0}, damaged;
	struct go_rows rows;
	struct go_code code;

	made_go_function(&table, 0x10, "main.f", FRAME_OF_24, 0);
	made_go_function(&table, 0x40, "main.g", FRAME_OF_24, 0);
	code = finish(&table, 0x60);
	CHECK_EQ(go_rows_make(&code, &rows), 0);
	go_rows_free(&rows);

	damaged = table;
	damaged.bytes[0] = 0xfb; /* an older version */
	CHECK_EQ(open_table(&damaged, sizeof(damaged.bytes)), -ENOENT);
	CHECK_EQ(open_table(&table, 71), -ENOENT);
	damaged = table;
	put(damaged.bytes + 8, 1000, 8); /* more functions than bytes */
	CHECK_EQ(open_table(&damaged, sizeof(damaged.bytes)), -EBADMSG);
	damaged = table;
	put(damaged.bytes + LIST + 8, 0x8, 4); /* a function before the one before it */
	code = read_code(&damaged);
	CHECK_EQ(go_rows_make(&code, &rows), -EBADMSG);
	damaged = table;
	put(damaged.bytes + LIST + 4, 100000, 4); /* what is known of it is nowhere */
	code = read_code(&damaged);
	CHECK_EQ(go_rows_make(&code, &rows), -EBADMSG);
}

UNIT_MAIN()
