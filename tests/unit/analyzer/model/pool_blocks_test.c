/* SPDX-License-Identifier: MIT */
/* pool_blocks_test.c - blocks of pools: by address, by pool, pools that are blocks, and undone
 * frees.
 */
#include "pool_blocks.h"

#include <string.h>

#include "unit.h"

#define STEPS 20000u
#define PLACES 64u

static struct pool_blocks blocks;

struct seen {
	uint64_t bytes;
	unsigned count;
};

static void see(void *context, const struct pool_block *block)
{
	struct seen *seen = context;

	seen->bytes += block->bytes;
	seen->count++;
}

static void add(uint64_t address, uint64_t bytes, uint64_t pool)
{
	const struct pool_block block = {.address = address, .bytes = bytes, .born_ns = 1};

	CHECK_EQ(pool_blocks_add(&blocks, &block), 0);
	pool_blocks_put_in(&blocks, address, pool);
}

static struct seen drop(uint64_t pool)
{
	struct seen seen = {0};

	pool_blocks_drop(&blocks, pool, see, &seen);
	return seen;
}

UNIT_TEST(a_pool_takes_its_blocks_and_no_others)
{
	struct pool_block taken;

	add(0x1000, 10, 0x100);
	add(0x2000, 20, 0x200);
	add(0x3000, 30, 0x100);
	CHECK_EQ(drop(0x100).bytes, 40);
	CHECK_EQ(drop(0x100).count, 0);
	CHECK(!pool_blocks_take(&blocks, 0x1000, 5, &taken));
	CHECK(pool_blocks_take(&blocks, 0x2000, 5, &taken));
	CHECK_EQ(taken.bytes, 20);
	CHECK_EQ(blocks.count, 0);
	pool_blocks_close(&blocks);
}

UNIT_TEST(what_lies_in_a_block_goes_with_it)
{
	add(0x1000, 1, 0);
	add(0x2000, 2, 0x1000);
	add(0x3000, 4, 0x2000);
	add(0x4000, 8, 0x3000);
	add(0x5000, 16, 0x2000);
	add(0x6000, 32, 0);
	CHECK_EQ(drop(0x2000).bytes, 2 + 4 + 8 + 16);
	CHECK_EQ(drop(0x1000).bytes, 1);
	CHECK_EQ(drop(0).count, 0);
	CHECK_EQ(blocks.count, 1);
	pool_blocks_close(&blocks);
}

UNIT_TEST(a_pool_that_lies_in_itself_ends)
{
	add(0x1000, 1, 0x2000);
	add(0x2000, 2, 0x1000);
	add(0x3000, 4, 0x3000);
	CHECK_EQ(drop(0x1000).bytes, 3);
	CHECK_EQ(drop(0x3000).bytes, 4);
	pool_blocks_close(&blocks);
}

UNIT_TEST(a_pool_that_moves_keeps_its_blocks)
{
	add(0x1000, 1, 0x100);
	add(0x2000, 2, 0x100);
	pool_blocks_move(&blocks, 0x100, 0x200);
	CHECK_EQ(drop(0x100).count, 0);
	CHECK_EQ(drop(0x200).bytes, 3);
	pool_blocks_close(&blocks);
}

UNIT_TEST(a_free_is_undone_once)
{
	struct pool_block taken;
	struct pool_freed freed;

	add(0x1000, 7, 0x100);
	CHECK(pool_blocks_take(&blocks, 0x1000, 5, &taken));
	CHECK(!pool_blocks_put_back(&blocks, 0x2000, &freed));
	CHECK(pool_blocks_put_back(&blocks, 0x1000, &freed));
	CHECK_EQ(freed.block.bytes, 7);
	CHECK_EQ(freed.block.pool, 0x100);
	CHECK_EQ(freed.freed_ns, 5);
	CHECK(!pool_blocks_put_back(&blocks, 0x1000, &freed));
	pool_blocks_close(&blocks);
}

/* The same by an array. */
static uint64_t pool_of[PLACES];
static bool is_live[PLACES];

static unsigned drop_plainly(uint64_t pool)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		if (!is_live[i] || (pool_of[i] != pool && i + 1 != pool))
			continue;
		is_live[i] = false;
		count += 1 + (i + 1 == pool ? 0 : drop_plainly(i + 1));
	}
	return count;
}

UNIT_TEST(many_blocks_come_and_go)
{
	uint64_t random = 1;
	unsigned live = 0;

	memset(is_live, 0, sizeof(is_live));
	for (unsigned step = 0; step < STEPS; step++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const uint64_t address = (random >> 40) % PLACES + 1,
			       pool = (random >> 50) % PLACES + 1;

		if (random >> 60 == 0) {
			const unsigned count = drop_plainly(pool);

			CHECK_EQ(drop(pool).count, count);
			live -= count;
		} else if (!is_live[address - 1]) {
			add(address, 1, pool);
			is_live[address - 1] = true;
			pool_of[address - 1] = pool;
			live++;
		} else {
			struct pool_block taken;

			CHECK(pool_blocks_take(&blocks, address, step, &taken));
			CHECK_EQ(taken.pool, pool_of[address - 1]);
			is_live[address - 1] = false;
			live--;
		}
		CHECK_EQ(blocks.count, live);
	}
	pool_blocks_close(&blocks);
}

UNIT_MAIN()
