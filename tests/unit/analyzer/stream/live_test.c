/* SPDX-License-Identifier: MIT */
/*
 * live_test.c - the live blocks, against a plain list of what should be there: also in the middle
 * of a table's growth, which takes little work at a time.
 */
#include "live.h"

#include <stdlib.h>

#include "unit.h"

#define BLOCKS 300000u
/* more than the longest run of blocks in a table that is half full, by far */
#define RUN_MAX 512u

/* Addresses as an allocator gives them, and anywhere. */
static uint64_t address_of(uint64_t i, bool is_anywhere)
{
	return is_anywhere ? (i + 1) * 0xd1342543de82ef95u : 0x7f0000000010u + 32 * i;
}

static void add(struct live *live, uint64_t address, uint32_t part)
{
	struct live_block *place = live_place(live, address);

	CHECK(place && !place->address);
	*place = (struct live_block){.address = address, .bytes = 16, .part = part};
	live->count++;
}

static void check_has(const struct live *live, uint64_t address, uint32_t part)
{
	const struct live_block *block = live_find(live, address);

	CHECK(block && block->address == address);
	CHECK_EQ(block->part, part);
}

/* What is there comes once. */
static void check_all_come(const struct live *live)
{
	const struct live_block *block;
	uint64_t parts = 0, wanted = 0, count = 0;

	for (size_t at = 0; (block = live_next(live, &at)); count++) {
		parts += block->part;
		wanted += live_has(live, block->address) ? block->part : 0;
	}
	CHECK_EQ(count, live->count);
	CHECK_EQ(parts, wanted);
}

static void grow(bool is_anywhere)
{
	struct live live = {0};
	size_t most = 0, tables = 0;

	for (uint32_t i = 0; i < BLOCKS; i++) {
		const size_t moved = live.moved, size = live.table.size;

		add(&live, address_of(i, is_anywhere), i);
		most = live.moved - moved > most ? live.moved - moved : most;
		tables += live.table.size != size;
		check_has(&live, address_of(i / 2, is_anywhere), i / 2);
		if (live.old.size && i % 10007 == 0)
			check_all_come(&live);
	}
	CHECK_EQ(tables, 11); /* to 2^20 slots */
	CHECK(live.moved > BLOCKS / 2);
	CHECK(most <= LIVE_STEP + RUN_MAX);
	for (uint32_t i = 0; i < BLOCKS; i++)
		check_has(&live, address_of(i, is_anywhere), i);
	CHECK(!live_has(&live, address_of(BLOCKS, is_anywhere)));
	check_all_come(&live);
	live_close(&live);
}

UNIT_TEST(growing_takes_little_work_at_a_time)
{
	grow(false);
	grow(true);
}

/* A table whose growth has begun and is not over. */
static uint32_t fill_until_it_moves(struct live *live)
{
	uint32_t count = 0;

	while (live->table.size < 1u << 17 || !live->old.size)
		add(live, address_of(count, true), count), count++;
	for (int i = 0; i < 100; i++)
		add(live, address_of(count, true), count), count++;
	CHECK(live->old.size && live->done > 1000 && live->done < live->old.size / 2);
	return count;
}

UNIT_TEST(blocks_are_removed_while_it_grows)
{
	struct live live = {0};
	struct live_block taken;
	const uint32_t count = fill_until_it_moves(&live);

	for (uint32_t i = 0; i < count; i += 3) {
		CHECK(live_take(&live, address_of(i, true), 1, &taken));
		CHECK_EQ(taken.part, i);
		CHECK(!live_drop(&live, address_of(i, true), &taken));
	}
	CHECK(live.old.size);
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ(live_has(&live, address_of(i, true)), i % 3 != 0);
	check_all_come(&live);
	/* the rest of the move, with blocks at some of these addresses again */
	for (uint32_t i = 0; i < count; i += 3)
		add(&live, address_of(i, true), i);
	CHECK(!live.old.size);
	for (uint32_t i = 0; i < count; i++)
		check_has(&live, address_of(i, true), i);
	CHECK_EQ(live.count, count);
	live_close(&live);
}

/* A random walk, with many removals: tables grow in the midst of them. */
UNIT_TEST(whatever_the_order)
{
	enum { ADDRESSES = 1u << 14 };
	struct live live = {0};
	struct live_block taken;
	bool *is_there = calloc(ADDRESSES, sizeof(*is_there));
	uint64_t random = 1;

	for (uint32_t step = 0; step < 60 * ADDRESSES; step++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint32_t i = (uint32_t)(random >> 40) % ADDRESSES;

		if (!is_there[i])
			add(&live, address_of(i, false), i);
		else
			CHECK(live_drop(&live, address_of(i, false), &taken) && taken.part == i);
		is_there[i] = !is_there[i];
		CHECK_EQ(live_has(&live, address_of(i, false)), is_there[i]);
	}
	for (uint32_t i = 0; i < ADDRESSES; i++)
		CHECK_EQ(live_has(&live, address_of(i, false)), is_there[i]);
	check_all_come(&live);
	free(is_there);
	live_close(&live);
}

/*
 * Blocks whose home is the last slot go on at the first ones: those are moved last of all, whatever
 * has come to them in the meantime.
 */
UNIT_TEST(a_run_around_the_end)
{
	struct live live = {0};
	uint64_t address[40];
	uint32_t count = 0, filler = 0;

	for (uint64_t i = 1; count < 40; i++)
		if ((i * 16 * 0x9e3779b97f4a7c15u) >> 54 == 0x3ff)
			address[count++] = i * 16;
	for (uint32_t i = 0; i < 20; i++)
		add(&live, address[i], i);
	while (live.count < 512)
		add(&live, address_of(1000 + filler, true), 100 + filler), filler++;
	CHECK_EQ(live.old.size, 0);
	for (uint32_t i = 20; i < 40; i++) {
		add(&live, address[i], i);
		CHECK(live.old.size);
	}
	while (live.old.size)
		add(&live, address_of(1000 + filler, true), 100 + filler), filler++;
	for (uint32_t i = 0; i < 40; i++)
		check_has(&live, address[i], i);
	for (uint32_t i = 0; i < filler; i++)
		check_has(&live, address_of(1000 + i, true), 100 + i);
	check_all_come(&live);
	live_close(&live);
}

UNIT_MAIN()
