/* SPDX-License-Identifier: MIT */
/*
 * go_rows_test.c - rows of a handmade table of functions, in both versions of its format, and of
 * damaged ones.
 */
#include "go_rows.h"

#include <errno.h>

#include "go_rows_of_cpu.h"
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

static int bp_slot_of(int kind)
{
	return kind == HI_UNWIND_SPILLED ? BP_SLOT_OF_SPILLED : 0;
}

static void check_rows(const struct go_code *code, const struct wanted *wanted, size_t count)
{
	struct go_rows rows;

	CHECK_EQ(go_rows_make(code, &rows), 0);
	for (size_t i = 0; i < rows.count && i < count; i++)
		if (rows.row[i].pc != wanted[i].pc || rows.row[i].kind != wanted[i].kind ||
		    rows.row[i].cfa != wanted[i].cfa ||
		    rows.row[i].bp_slot != bp_slot_of(wanted[i].kind))
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

		CHECK_ROWS(code, {0x10, ROW_AT_ENTRY}, {0x14, ROW_OF_24}, {0x24, ROW_AT_ENTRY},
			   {0x30, HI_UNWIND_NONE, 0}, {0x40, HI_UNWIND_END, 0},
			   {0x60, HI_UNWIND_NONE, 0}, {0x80, ROW_OF_64}, {0x90, HI_UNWIND_NONE, 0},
			   {0xa0, HI_UNWIND_NONE, 0});
	}
}

/* As of a CPU whose instructions have four bytes. */
UNIT_TEST(code_is_counted_in_instructions)
{
	struct made_go_table table = {.unit = 4};

	made_go_function(&table, 0x10, "main.f", "\x02\x01\x30\x04\x2f\x03", 0);
	const struct go_code code = finish(&table, 0x40);

	CHECK_ROWS(code, {0x10, ROW_AT_ENTRY}, {0x14, ROW_OF_24}, {0x24, ROW_AT_ENTRY},
		   {0x30, HI_UNWIND_NONE, 0}, {0x40, HI_UNWIND_NONE, 0});
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
	CHECK_ROWS(code, {0x20, ROW_AT_ENTRY}, {0x30, HI_UNWIND_NONE, 0},
		   {0x40, HI_UNWIND_NONE, 0});
}

#include "go_calls.h"

/* As a return address it is its first byte: the row of the byte before is what a walker finds. */
UNIT_TEST(the_mark_of_a_goroutine_that_waits_for_c)
{
	struct made_go_table table = {0};

	made_go_function(&table, 0x10, "main.f", FRAME_OF_24, 0);
	made_go_function(&table, 0x40, "runtime.systemstack_switch", "\x02\x20", 0);
	const struct go_code code = finish(&table, 0x60);

	CHECK_ROWS(code, {0x10, ROW_AT_ENTRY}, {0x14, ROW_OF_24}, {0x24, ROW_AT_ENTRY},
		   {0x30, HI_UNWIND_NONE, 0}, {0x3f, ROW_AT_ENTRY}, {0x40, ROW_AT_ENTRY},
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
