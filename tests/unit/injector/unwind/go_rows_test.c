/* SPDX-License-Identifier: MIT */
/*
 * go_rows_test.c - rows of a handmade table of functions, in both versions of its format, and of
 * damaged ones.
 */
#include "go_rows.h"

#include <errno.h>

#include "unit.h"

#define TEXT 0x1000u
#define CODE_BYTES 0x100u
#define FUNCTIONS_MAX 8u

struct table {
	uint8_t bytes[1152];
	uint8_t code[CODE_BYTES];
	uint32_t used, count;
	uint32_t lo[FUNCTIONS_MAX + 1], known[FUNCTIONS_MAX];
	bool is_1_20;
};

enum { NAMES = 72, PAIRS = 336, LIST = 600, KNOWN = 700 };

static void put(uint8_t *at, uint64_t value, size_t size)
{
	memcpy(at, &value, size);
}

/* pairs: as in the table, ended by a zero. */
static void add(struct table *table, uint32_t lo, const char *name, const char *pairs,
		uint8_t flags)
{
	const uint32_t number = table->count++, place = 32 * number;
	const size_t size = table->is_1_20 ? 44 : 40;
	uint8_t *known = table->bytes + KNOWN + 44 * (size_t)number;

	CHECK(number < FUNCTIONS_MAX && strlen(name) < 32 && strlen(pairs) < 32);
	memcpy(table->bytes + NAMES + place, name, strlen(name) + 1);
	memcpy(table->bytes + PAIRS + place, pairs, strlen(pairs) + 1);
	table->lo[number] = lo;
	put(known, lo, 4);
	put(known + 4, place, 4);
	put(known + 16, place, 4);
	known[size - 3] = flags;
}

static struct go_code finish(struct table *table, uint32_t end)
{
	static const struct {
		unsigned at;
		uint64_t value;
	} words[] = {{2, TEXT}, {3, NAMES}, {4, NAMES}, {5, NAMES}, {6, PAIRS}, {7, LIST}};

	put(table->bytes, table->is_1_20 ? 0xfffffff1u : 0xfffffff0u, 4);
	table->bytes[6] = 1;
	table->bytes[7] = 8;
	put(table->bytes + 8, table->count, 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put(table->bytes + 8 + 8 * (size_t)words[i].at, words[i].value, 8);
	for (uint32_t i = 0; i < table->count; i++) {
		put(table->bytes + LIST + 8 * (size_t)i, table->lo[i], 4);
		put(table->bytes + LIST + 8 * (size_t)i + 4, KNOWN - LIST + 44 * i, 4);
	}
	put(table->bytes + LIST + 8 * (size_t)table->count, end, 4);
	return (struct go_code){.table = table->bytes,
				.table_size = sizeof(table->bytes),
				.code = table->code,
				.lo = TEXT,
				.hi = TEXT + CODE_BYTES};
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
		struct table table = {.is_1_20 = is_1_20};

		add(&table, 0x10, "main.f", FRAME_OF_24, 0);
		add(&table, 0x40, "runtime.goexit", "\x02\x10", 1);
		add(&table, 0x60, "runtime.gogo", "\x02\x10", 2);
		add(&table, 0x80, "runtime.cgocallback", "\x82\x01\x10", 2);
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
	struct table table = {0};
	struct go_code code;

	add(&table, 0x10, "main.f", "\x02\x10", 0);
	add(&table, 0x40, "main.g", "\x02\x10", 0);
	code = finish(&table, 0x60);
	code.functions = TEXT - 0x20;
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
	struct table table = {0};

	memset(table.code, 0x90, sizeof(table.code));
	memcpy(table.code + 0x20, other, sizeof(other));
	memcpy(table.code + 0x40, same, sizeof(same));
	add(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
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
	struct table table = {.is_1_20 = true};

	memset(table.code, 0x90, sizeof(table.code));
	memcpy(table.code + 0x20, later, sizeof(later));
	add(&table, 0x10, "runtime.asmcgocall", "\x02\x40", 2);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_NONE, 0},
		   {0x24, HI_UNWIND_OTHER_STACK, HI_UNWIND_PAIR(0, 1)}, {0x25, HI_UNWIND_NONE, 0},
		   {0x60, HI_UNWIND_NONE, 0});
}

/* As a return address it is its first byte: the row of the byte before is what a walker finds. */
UNIT_TEST(the_mark_of_a_goroutine_that_waits_for_c)
{
	struct table table = {0};

	add(&table, 0x10, "main.f", FRAME_OF_24, 0);
	add(&table, 0x40, "runtime.systemstack_switch", "\x02\x20", 0);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, HI_UNWIND_SP, 1}, {0x14, HI_UNWIND_SP, 4}, {0x24, HI_UNWIND_SP, 1},
		   {0x30, HI_UNWIND_NONE, 0}, {0x3f, HI_UNWIND_SP, 1}, {0x40, HI_UNWIND_SP, 1},
		   {0x60, HI_UNWIND_NONE, 0});
}

UNIT_TEST(what_is_no_table_or_a_damaged_one)
{
	struct table table = {0}, damaged;
	struct go_rows rows;
	struct go_code code;

	add(&table, 0x10, "main.f", FRAME_OF_24, 0);
	add(&table, 0x40, "main.g", FRAME_OF_24, 0);
	code = finish(&table, 0x60);
	CHECK_EQ(go_rows_make(&code, &rows), 0);
	go_rows_free(&rows);

	damaged = table;
	damaged.bytes[0] = 0xfb; /* an older version */
	code.table = damaged.bytes;
	CHECK_EQ(go_rows_make(&code, &rows), -ENOENT);
	damaged = table;
	put(damaged.bytes + 8, 1000, 8); /* more functions than bytes */
	CHECK_EQ(go_rows_make(&code, &rows), -EBADMSG);
	damaged = table;
	put(damaged.bytes + LIST + 8, 0x8, 4); /* a function before the one before it */
	CHECK_EQ(go_rows_make(&code, &rows), -EBADMSG);
	damaged = table;
	put(damaged.bytes + LIST + 4, 100000, 4); /* what is known of it is nowhere */
	CHECK_EQ(go_rows_make(&code, &rows), -EBADMSG);
	code.table_size = 71;
	CHECK_EQ(go_rows_make(&code, &rows), -ENOENT);
}

UNIT_MAIN()
