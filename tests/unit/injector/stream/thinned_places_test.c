/* SPDX-License-Identifier: MIT */
/* thinned_places_test.c - where allocations were thinned, and how much that lets escape. */
#include "unit.h"

#include <stdlib.h>

#include "thinned_places.h"

#define FINEST 64u

static struct thinned_due due;
static struct thinned_places places;

static void add_due(size_t key, uint32_t count, uint32_t shift)
{
	thinned_due_add(
		&due, key,
		&(struct thinned_due_part){.count = count, .shift = shift, .drawn = FINEST});
}

static uint64_t grain(size_t key)
{
	return thinned_due_grain(&due, key, FINEST, 36);
}

UNIT_TEST(what_was_not_thinned_has_no_grain)
{
	CHECK_EQ(grain(7), 0);
	add_due(7, 0, 3);
	CHECK_EQ(grain(7), 0);
}

/* Each that is due stands for 36 + 64 bytes. */
UNIT_TEST(the_grain_is_an_interval_or_a_part_of_what_was_due)
{
	add_due(1, 1000, 4);
	CHECK_EQ(grain(1), FINEST << 4);
	add_due(1, 3, 20); /* too few to hold a whole interval */
	CHECK_EQ(grain(1), FINEST << 4);
	add_due(1, 97, 20);
	CHECK_EQ(grain(1), 100 * 100 * 2 / 3);
	add_due(1, 10000000, 20);
	CHECK_EQ(grain(1), (uint64_t)FINEST << 20);
	CHECK_EQ(grain(0), 0);
}

/* What was due at a coarser interval could have escaped at a finer one, too. */
UNIT_TEST(coarser_ones_count_for_finer_ones)
{
	add_due(2, 10, 10);
	CHECK_EQ(grain(2), 1000 * 2 / 3);
	add_due(2, 10, 4);
	CHECK_EQ(grain(2), FINEST << 4);
	add_due(2, 10, 9);
	CHECK_EQ(grain(2), 2000 * 2 / 3);
}

UNIT_TEST(impossible_parts_are_ignored)
{
	add_due(HI_THINNING_KEYS, 1, 1);
	add_due(0, 1, HI_INTERVAL_SHIFT_MAX + 1);
	CHECK_EQ(grain(0), 0);
	for (int i = 0; i < 100; i++)
		thinned_due_add(
			&due, 0,
			&(struct thinned_due_part){UINT32_MAX, HI_INTERVAL_SHIFT_MAX, 1e30});
	CHECK_EQ(thinned_due_grain(&due, 0, UINT64_MAX, 0x1p64), 1ull << HI_ARCH_ADDRESS_BITS);
}

UNIT_TEST(places_of_thinned_keys_are_listed)
{
	struct hi_stream_thinned_place list[8];

	add_due(4, 1000000, 3);
	add_due(HI_THINNING_KEYS - 1, 1000000, 5);
	for (int i = 0; i < 3; i++) {
		thinned_places_add(&places, 9, 100, 4 + 1);
		thinned_places_add(&places, 9, 127, 4 + 1);
		thinned_places_add(&places, 9, 128, 4 + 1);
		thinned_places_add(&places, 10, 100, HI_THINNING_KEYS);
	}
	thinned_places_add(&places, 11, 100, 6);                    /* a key that was not thinned */
	thinned_places_add(&places, 0, 100, 4 + 1);                 /* no stack */
	thinned_places_add(&places, 12, 100, 0);                    /* no key */
	thinned_places_add(&places, 12, 100, HI_THINNING_KEYS + 1); /* a key that cannot be */
	CHECK_EQ(places.count, 4);
	CHECK_EQ(thinned_places_list(&places, &due, FINEST, list), 3);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(list[i].grain, list[i].stack == 9 ? FINEST << 3 : FINEST << 5);
		CHECK(list[i].size_bits == 7 || (list[i].stack == 9 && list[i].size_bits == 8));
	}
	thinned_places_close(&places);
	CHECK_EQ(thinned_places_list(&places, &due, FINEST, list), 0);
}

/* As many as are remembered, and more. */
UNIT_TEST(a_crowd_of_places_has_a_bound)
{
	struct hi_stream_thinned_place *list;
	uint64_t stacks = 0;

	add_due(0, 1000000, 3);
	for (uint32_t stack = 1; stack <= 3 * THINNED_PLACES_MAX; stack++)
		thinned_places_add(&places, stack, 100, 1);
	CHECK(places.count >= THINNED_PLACES_MAX / 2 && places.count <= 2 * THINNED_PLACES_MAX);
	list = calloc(places.count, sizeof(*list));
	CHECK_EQ(thinned_places_list(&places, &due, FINEST, list), places.count);
	for (size_t i = 0; i < places.count; i++)
		stacks += list[i].stack;
	CHECK_EQ(stacks,
		 (uint64_t)places.count * (places.count + 1) / 2); /* each of the first once */
	free(list);
	thinned_places_close(&places);
}

UNIT_MAIN()
