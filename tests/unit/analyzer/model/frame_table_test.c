/* SPDX-License-Identifier: MIT */
/* frame_table_test.c - frames are found by address and module, also after the table has grown. */
#include "unit.h"

#include "frame_table.h"

#define FRAMES 1000u

UNIT_TEST(an_empty_frame_table_has_nothing)
{
	const struct frame_table table = {0};
	uint32_t index;

	CHECK(!frame_table_find(&table, 0, 0, &index));
	CHECK(!frame_table_find(&table, 0x1000, -1, &index));
}

UNIT_TEST(each_frame_keeps_its_index_while_the_table_grows)
{
	struct frame_table table = {0};
	uint32_t index;

	for (uint32_t i = 0; i < FRAMES; i++)
		CHECK_EQ(frame_table_add(&table, i, -1, i), 0);
	CHECK_EQ(table.count, FRAMES);
	CHECK(table.size >= 2 * FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++) {
		CHECK(frame_table_find(&table, i, -1, &index));
		CHECK_EQ(index, i);
	}
	CHECK(!frame_table_find(&table, FRAMES, -1, &index));
	frame_table_close(&table);
	CHECK_EQ(table.size, 0);
}

UNIT_TEST(one_address_is_a_frame_of_each_module)
{
	struct frame_table table = {0};
	uint32_t index;

	CHECK_EQ(frame_table_add(&table, 0x1000, -1, 7), 0);
	CHECK(!frame_table_find(&table, 0x1000, 0, &index));
	CHECK_EQ(frame_table_add(&table, 0x1000, 0, 8), 0);
	CHECK(frame_table_find(&table, 0x1000, -1, &index));
	CHECK_EQ(index, 7);
	CHECK(frame_table_find(&table, 0x1000, 0, &index));
	CHECK_EQ(index, 8);
	frame_table_close(&table);
}

UNIT_MAIN()
