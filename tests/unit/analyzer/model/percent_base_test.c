/* SPDX-License-Identifier: MIT */
/* percent_base_test.c - what percentages are of, against sums by hand. */
#include "unit.h"

#include "estimate.h"
#include "sample_profile.h"
#include "percent_base.h"

/* a: 300 more, b: 100 less, c: as before, d: new; each object of 100 bytes. */
static struct profile comparison(void)
{
	struct profile later = sample_open(), earlier = sample_open();

	sample_stack(&earlier, "main;a", 1, 100);
	sample_stack(&earlier, "main;b", 2, 100);
	sample_stack(&earlier, "main;c", 5, 100);
	sample_stack(&later, "main;a", 4, 100);
	sample_stack(&later, "main;b", 1, 100);
	sample_stack(&later, "main;c", 5, 100);
	sample_stack(&later, "main;d", 7, 100);
	sample_compare(&later, &earlier);
	return later;
}

UNIT_TEST(of_one_profile)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;a", 2, 100);
	sample_stack(&profile, "main;b", 3, 10);
	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(profile.meta.percent_base[INUSE_SPACE], 230);
	CHECK_EQ(profile.meta.percent_base[ALLOC_OBJECTS], 10);
	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_BASE), 0);
	CHECK_EQ(profile.meta.percent_base[INUSE_SPACE], 230);
	profile_close(&profile);
}

UNIT_TEST(of_all_changes)
{
	struct profile profile = comparison();

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(profile.meta.percent_base[INUSE_SPACE], 300 + 100 + 0 + 700);
	CHECK_EQ(profile.meta.percent_base[INUSE_OBJECTS], 3 + 1 + 7);
	profile_close(&profile);
}

UNIT_TEST(of_the_base)
{
	struct profile profile = comparison();

	CHECK_EQ(percent_base_set(&profile, PERCENT_BASE_BASE), 0);
	CHECK_EQ(profile.meta.percent_base[INUSE_SPACE], 800);
	profile_close(&profile);
}

/* The base holds differences: its own ones count, whatever the new side has below zero. */
UNIT_TEST(a_base_of_differences)
{
	struct profile later = comparison(), earlier = comparison(), both;

	earlier.meta.is_difference = later.meta.is_difference = true;
	sample_stack(&later, "main;e", 5, 100);
	CHECK_EQ(profile_open(&both), 0);
	CHECK_EQ(profile_merge(&both, &earlier, PROFILE_BASE), 0);
	CHECK_EQ(profile_merge(&both, &later, PROFILE_NEW), 0);
	CHECK_EQ(percent_base_set(&both, PERCENT_BASE_BASE), 0);
	CHECK_EQ(both.meta.percent_base[INUSE_SPACE], 300 + 100 + 0 + 700);
	CHECK_EQ(both.meta.percent_base[INUSE_OBJECTS], 3 + 1 + 7);
	CHECK(both.meta.is_difference);
	profile_close(&both);
	profile_close(&later);
	profile_close(&earlier);
}

UNIT_TEST(an_empty_base)
{
	struct profile later = sample_open(), earlier = sample_open();

	sample_stack(&later, "main;a", 4, 100);
	sample_stack(&earlier, "main;a", 4, 100);
	earlier.row[0].inuse_count = earlier.row[0].inuse_bytes = 0;
	sample_compare(&later, &earlier);
	CHECK_EQ(percent_base_set(&later, PERCENT_BASE_BASE), 0);
	CHECK_EQ(later.meta.percent_base[INUSE_SPACE], 400);
	CHECK_EQ(later.meta.percent_base[ALLOC_SPACE], 800);
	profile_close(&later);
}

/* One module that lies elsewhere in the second process. */
static struct profile loaded_at(uint64_t address, uint64_t count)
{
	const struct profile_module module = {.lo = address,
					      .hi = address + 0x1000,
					      .bias = address,
					      .build_id = {1, 2, 3},
					      .build_id_size = 3,
					      .path = (char *)(uintptr_t) "/bin/server"};
	struct profile profile = sample_open();
	uint32_t index, frame;

	CHECK_EQ(profile_add_module(&profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&profile, address + 0x123, (int32_t)index, &frame), 0);
	sample_frames(&profile, &frame, 1, count, 10);
	return profile;
}

UNIT_TEST(two_processes)
{
	struct profile later = loaded_at(0x500000, 5), earlier = loaded_at(0x7f0000, 3);

	sample_compare(&later, &earlier);
	CHECK_EQ(percent_base_set(&later, PERCENT_BASE_CHANGES), 0);
	CHECK_EQ(later.meta.percent_base[INUSE_SPACE], 20);
	profile_close(&later);
}

UNIT_MAIN()
