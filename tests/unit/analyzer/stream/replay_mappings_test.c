/* SPDX-License-Identifier: MIT */
/* replay_mappings_test.c - records of address space played into a profile. */
#include "mapping_rows.h"
#include "replayed.h"
#include "row_history.h"

#define PAGE HI_PAGE_BYTES
#define PLACE (UINT64_C(1) << 32)

static struct profile profile;

static void put_mapped(FILE *file, uint64_t address, uint64_t bytes, uint64_t interval,
		       const uint64_t site[2])
{
	struct hi_stream_alloc mapped = {.record.type = HI_STREAM_MAPPED,
					 .time_ns = 1000,
					 .address = address,
					 .bytes = bytes,
					 .function = HI_FN_MMAP,
					 .frame_count = 2,
					 .interval = interval,
					 .slack = 3 | 0x22 << HI_MAPPING_FLAGS_SHIFT};

	stream_put(file, &mapped, sizeof(mapped), site, 2 * sizeof(*site));
}

static void put_change(FILE *file, enum hi_mapping_change change, uint64_t address, uint64_t bytes)
{
	struct hi_stream_mapping mapping = {.record.type = HI_STREAM_MAPPING,
					    .record.flags = (uint16_t)change,
					    .time_ns = 2000,
					    .address = address,
					    .bytes = bytes,
					    .thread = 1,
					    .attributes = 3 | 0x22 << HI_MAPPING_FLAGS_SHIFT};

	stream_put(file, &mapping, sizeof(mapping), NULL, 0);
}

UNIT_TEST(parts_that_go_are_no_longer_in_use)
{
	FILE *file = stream_begin(1);

	put_mapped(file, PLACE, 8 * PAGE, 1, site_a);
	put_change(file, HI_MAPPING_GONE, PLACE + 2 * PAGE, PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.row_count, 0); /* it is no block */
	CHECK_EQ(profile.mapping_count, 1);
	CHECK_EQ(profile.mapping[0].alloc_bytes, 8 * PAGE);
	CHECK_EQ(profile.mapping[0].inuse_bytes, 7 * PAGE);
	CHECK_EQ(profile.mapping[0].inuse_count, 1);
	profile_close(&profile);
}

/* Of aarch64 they have one bit more than of x86-64. */
UNIT_TEST(addresses_of_any_cpu_are_known)
{
	FILE *file = stream_begin(1);

	put_mapped(file, 0xffff90000000, PAGE, 1, site_a);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping_count, 1);
	profile_close(&profile);
}

UNIT_TEST(mappings_were_asked_for_where_none_was_made)
{
	FILE *file = stream_begin(1);

	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.has_mappings);
	profile_close(&profile);
	file = stream_begin(1);
	put_change(file, HI_MAPPING_KEPT, 0, 0);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(profile.has_mappings);
	CHECK_EQ(profile.mapping_count, 0);
	profile_close(&profile);
}

UNIT_TEST(a_call_that_failed_took_nothing)
{
	FILE *file = stream_begin(1);

	put_mapped(file, PLACE, 8 * PAGE, 1, site_a);
	put_change(file, HI_MAPPING_GONE, PLACE, 8 * PAGE);
	put_change(file, HI_MAPPING_KEPT, PLACE, 8 * PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping[0].inuse_bytes, 8 * PAGE);
	CHECK_EQ(profile.mapping[0].inuse_count, 1);
	CHECK_EQ(profile.mapping[0].freed_count, 0);
	profile_close(&profile);
}

UNIT_TEST(a_mapping_takes_the_place_of_what_was_there)
{
	FILE *file = stream_begin(1);

	put_mapped(file, PLACE, 8 * PAGE, 1, site_a);
	put_mapped(file, PLACE + 6 * PAGE, 8 * PAGE, 1, site_b);
	put_change(file, HI_MAPPING_UNSAMPLED, PLACE + 13 * PAGE, PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping_count, 2);
	CHECK_EQ(profile.mapping[0].inuse_bytes, 6 * PAGE);
	CHECK_EQ(profile.mapping[1].inuse_bytes, 7 * PAGE);
	profile_close(&profile);
}

UNIT_TEST(what_an_allocator_maps_is_told_apart)
{
	FILE *file = stream_begin(65536);

	put_change(file, HI_MAPPING_ALLOCATOR, PLACE, 8 * PAGE);
	put_change(file, HI_MAPPING_NESTED, PLACE + 8 * PAGE, PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping_count, 2);
	CHECK_EQ(profile.mapping[0].key.interval, HI_INTERVAL_EXACT);
	CHECK_STR(mapping_rows_owner(&profile, &profile.mapping[1]), "unknown");
	CHECK_STR(mapping_rows_owner(&profile, &profile.mapping[0]), "allocator");
	CHECK_EQ(mapping_rows_show(&profile), 0);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_bytes, 8 * PAGE);
	profile_close(&profile);
}

/* A system call of the program's own has unmapped it. */
UNIT_TEST(what_is_not_in_the_list_of_mappings_has_gone)
{
	static const char text[] = "100000000-100003000 rw-p 00000000 00:00 0\n"
				   "100005000-100006000 rw-p 00000000 00:00 0\n"
				   "200000000-200001000 rw-p 00000000 00:00 0\n";
	struct hi_stream_maps maps = {
		.record.type = HI_STREAM_MAPS, .time_ns = 3000, .text_size = sizeof(text) - 1};
	FILE *file = stream_begin(1);

	put_mapped(file, PLACE, 8 * PAGE, 1, site_a);
	stream_put(file, &maps, sizeof(maps), text, sizeof(text) - 1);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping[0].inuse_bytes, 4 * PAGE);
	profile_close(&profile);
	/* the list is older than the mapping */
	file = stream_begin(1);
	put_mapped(file, PLACE, 8 * PAGE, 1, site_a);
	maps.time_ns = 500;
	stream_put(file, &maps, sizeof(maps), text, sizeof(text) - 1);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping[0].inuse_bytes, 8 * PAGE);
	profile_close(&profile);
}

/* For what grows: --leaks. A mapping lives until the last of it has gone. */
UNIT_TEST(lives_of_mappings_are_known)
{
	FILE *file = stream_begin(1);
	struct history history;
	uint64_t live = 0, gone = 0;

	for (uint64_t i = 0; i < 4; i++)
		put_mapped(file, PLACE + 16 * i * PAGE, 8 * PAGE, 1, site_a);
	put_change(file, HI_MAPPING_GONE, PLACE, 8 * PAGE);
	put_change(file, HI_MAPPING_GONE, PLACE + 16 * PAGE, 4 * PAGE);
	put_change(file, HI_MAPPING_GONE, PLACE + 32 * PAGE, 8 * PAGE);
	put_change(file, HI_MAPPING_KEPT, PLACE + 32 * PAGE, 8 * PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(mapping_rows_show(&profile), 0);
	CHECK_EQ(profile.row_count, 1);
	CHECK(row_history_get(&profile, &profile.row[0], &history));
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		live += history.live[i];
		gone += history.gone[i];
	}
	CHECK_EQ(live, 3);
	CHECK_EQ(gone, 1);
	profile_close(&profile);
}

UNIT_TEST(impossible_records_are_skipped)
{
	FILE *file = stream_begin(1);

	put_mapped(file, PLACE + 1, 8 * PAGE, 1, site_a);
	put_mapped(file, PLACE, 0, 1, site_a);
	put_mapped(file, PLACE, UINT64_MAX / PAGE * PAGE, 1, site_a);
	put_mapped(file, PLACE, PAGE, 0, site_a);
	put_change(file, HI_MAPPING_GONE, UINT64_MAX / PAGE * PAGE, 8 * PAGE);
	put_change(file, (enum hi_mapping_change)99, PLACE, PAGE);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.mapping_count, 0);
	CHECK(profile.meta.damage != NULL);
	profile_close(&profile);
}

UNIT_MAIN()
