/* SPDX-License-Identifier: MIT */
/* go_functions_test.c - names by address in a handmade table of functions, and in a damaged one. */
#include "go_functions.h"

#include "made_go_table.h"

static struct hi_go_table opened(const struct made_go_table *table)
{
	struct hi_go_table found;

	CHECK_EQ(hi_go_table_open(table->bytes, sizeof(table->bytes), 0, &found), 0);
	return found;
}

UNIT_TEST(each_function_from_its_first_byte_to_the_next_one)
{
	static const struct {
		uint32_t at;
		const char *name;
		uint32_t begin, end;
	} wanted[] = {
		{0x0f, NULL, 0, 0},           {0x10, "main.f", 0x10, 0x40},
		{0x3f, "main.f", 0x10, 0x40}, {0x40, "main.g", 0x40, 0x60},
		{0x60, "main.h", 0x60, 0x80}, {0x7f, "main.h", 0x60, 0x80},
		{0x80, NULL, 0, 0},
	};
	struct made_go_table table = {0};

	made_go_function(&table, 0x10, "main.f", "\x02\x10", 0);
	made_go_function(&table, 0x40, "main.g", "\x02\x10", 0);
	made_go_function(&table, 0x60, "main.h", "\x02\x10", 0);
	made_go_finish(&table, 0x80);
	const struct hi_go_table found = opened(&table);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		uint64_t begin = 0, end = 0;
		const char *name =
			go_functions_find(&found, MADE_TEXT + wanted[i].at, &begin, &end);

		CHECK(!name == !wanted[i].name);
		if (!name)
			continue;
		CHECK_STR(name, wanted[i].name);
		CHECK_EQ(begin, MADE_TEXT + wanted[i].begin);
		CHECK_EQ(end, MADE_TEXT + wanted[i].end);
	}
}

UNIT_TEST(nothing_is_found_where_the_table_is_damaged)
{
	const struct hi_go_table none = {0};
	struct made_go_table table = {0};
	uint64_t begin, end;

	CHECK(!go_functions_find(&none, MADE_TEXT, &begin, &end));
	made_go_function(&table, 0x10, "main.f", "\x02\x10", 0);
	made_go_finish(&table, 0x40);
	put(table.bytes + LIST + 4, 100000, 4); /* what is known of it is nowhere */
	const struct hi_go_table damaged = opened(&table);

	CHECK(!go_functions_find(&damaged, MADE_TEXT + 0x20, &begin, &end));
}

UNIT_MAIN()
