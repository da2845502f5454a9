/* SPDX-License-Identifier: MIT */
/* replay_pools_test.c - records of named functions played into a profile. */
#include "pool_rows.h"
#include "replayed.h"
#include "row_history.h"

#define BLOCK UINT64_C(0x10000)
#define POOL UINT64_C(0x20000)

static struct profile profile;

static void put_pooled(FILE *file, uint64_t address, uint64_t bytes, const uint64_t site[2])
{
	struct hi_stream_alloc pooled = {.record.type = HI_STREAM_POOLED,
					 .time_ns = 1000,
					 .address = address,
					 .bytes = bytes,
					 .function = HI_FN_NAMED_ALLOC_0,
					 .frame_count = 2,
					 .interval = 1,
					 .slack = HI_STREAM_SLACK_UNKNOWN};

	stream_put(file, &pooled, sizeof(pooled), site, 2 * sizeof(*site));
}

static void put_change(FILE *file, enum hi_named_change change, uint64_t address, uint64_t pool)
{
	struct hi_stream_pool record = {.record.type = HI_STREAM_POOL,
					.record.flags = (uint16_t)change,
					.time_ns = 2000,
					.address = address,
					.pool = pool,
					.thread = 1};

	stream_put(file, &record, sizeof(record), NULL, 0);
}

static void put_named(FILE *file, uint64_t calls, uint64_t senseless)
{
	struct hi_stream_named named = {.record.type = HI_STREAM_NAMED,
					.calls = calls,
					.senseless = senseless,
					.function = HI_FN_NAMED_ALLOC_0,
					.name_size = 6};

	stream_put(file, &named, sizeof(named), "palloc", 6);
}

UNIT_TEST(blocks_of_pools_are_rows_of_their_own)
{
	FILE *file = stream_begin(1);

	put_named(file, 0, 0);
	put_pooled(file, BLOCK, 100, site_a);
	put_pooled(file, BLOCK + 100, 50, site_a);
	put_change(file, HI_NAMED_FREED, BLOCK + 100, 0);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row_count, 0);
	CHECK_EQ(profile.pooled_count, 2); /* by their sizes */
	CHECK_EQ(profile.pooled[0].inuse_bytes, 100);
	CHECK_EQ(profile.pooled[1].inuse_count, 0);
	CHECK_EQ(profile.pooled[1].freed_count, 1);
	CHECK_EQ(pool_rows_show(&profile), 0);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].alloc_bytes, 100);
	CHECK_EQ(profile.pooled_count, 0);
	profile_close(&profile);
}

UNIT_TEST(a_pool_that_goes_takes_its_blocks)
{
	FILE *file = stream_begin(1);

	put_pooled(file, BLOCK, 100, site_a);
	put_change(file, HI_NAMED_POOLED, BLOCK, POOL);
	put_pooled(file, BLOCK + 100, 100, site_a);
	put_change(file, HI_NAMED_POOLED, BLOCK + 100, BLOCK);
	put_pooled(file, BLOCK + 200, 100, site_a);
	put_change(file, HI_NAMED_POOL_GONE, 0, POOL);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.pooled[0].alloc_count, 3);
	CHECK_EQ(profile.pooled[0].inuse_count, 1);
	CHECK_EQ(profile.pooled[0].inuse_bytes, 100);
	profile_close(&profile);
}

UNIT_TEST(a_realloc_that_failed_keeps_its_block)
{
	FILE *file = stream_begin(1);

	put_pooled(file, BLOCK, 100, site_a);
	put_change(file, HI_NAMED_POOLED, BLOCK, POOL);
	put_change(file, HI_NAMED_FREED, BLOCK, 0);
	put_change(file, HI_NAMED_KEPT, BLOCK, 0);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.pooled[0].inuse_count, 1);
	CHECK_EQ(profile.pooled[0].freed_count, 0);
	profile_close(&profile);
}

UNIT_TEST(a_block_at_the_place_of_another_replaces_it)
{
	FILE *file = stream_begin(1);

	put_pooled(file, BLOCK, 100, site_a);
	put_pooled(file, BLOCK, 100, site_a);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.pooled[0].alloc_count, 2);
	CHECK_EQ(profile.pooled[0].inuse_count, 1);
	profile_close(&profile);
}

UNIT_TEST(a_function_whose_sizes_make_no_sense_has_no_figures)
{
	FILE *file = stream_begin(1);

	put_named(file, 0, 0);
	put_pooled(file, BLOCK, 100, site_a);
	put_named(file, 10, 6);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(profile.has_pooled);
	CHECK_EQ(pool_rows_show(&profile), 0);
	CHECK_EQ(profile.row_count, 0);
	profile_close(&profile);
}

UNIT_TEST(records_that_cannot_be_are_skipped)
{
	FILE *file = stream_begin(1);

	put_pooled(file, 0, 100, site_a);
	put_pooled(file, BLOCK, UINT64_C(1) << 60, site_a);
	put_change(file, (enum hi_named_change)77, BLOCK, POOL);
	put_change(file, HI_NAMED_KEPT, BLOCK, 0);
	put_change(file, HI_NAMED_POOL_MOVED, BLOCK, POOL);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.pooled_count, 0);
	profile_close(&profile);
}

UNIT_MAIN()
