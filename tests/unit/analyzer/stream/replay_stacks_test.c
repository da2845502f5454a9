/* SPDX-License-Identifier: MIT */
/* replay_stacks_test.c - stacks in records and by number, whole and cut off. */
#include "replayed.h"

/* The same frames may be all there is, or all that could be seen. */
UNIT_TEST(each_stack_is_counted_by_how_it_ended_itself)
{
	static const uint16_t end[] = {HI_END_COMPLETE, HI_END_REGION, HI_END_COMPLETE,
				       HI_END_DEPTH,    HI_END_REGION, 200};
	const uint64_t site[] = {1000, 2000};
	struct profile profile;
	FILE *file = stream_begin(1);

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
		stream_alloc_ended(file, 16 + 16 * i, end[i], site, 2, 8);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.stacks_complete, 2);
	CHECK_EQ(profile.meta.stacks_truncated, 4);
	CHECK_EQ(profile.meta.stack_ends[HI_END_REGION], 2);
	CHECK_EQ(profile.meta.stack_ends[HI_END_DEPTH], 1);
	CHECK_EQ(profile.meta.stack_ends[HI_END_NO_ROW], 0);
	profile_close(&profile);
}

/* A ring that a target writes to can bring any number of them. */
UNIT_SLOW_TEST(stacks_without_end_are_counted_but_not_told_apart)
{
	enum { SAMPLES = 600000, KEPT = 1 << 19 };
	struct profile profile;
	FILE *file = stream_begin(1);

	for (uint64_t i = 0; i < SAMPLES; i++) {
		const uint64_t site[] = {1000 + i % 1000, 5000 + i / 1000};

		stream_alloc(file, 16 + 16 * i, 8, site, 2);
	}
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.meta.samples, SAMPLES);
	CHECK_EQ(profile.stack_count, KEPT + 1);
	CHECK_EQ(profile.row[KEPT].inuse_count, SAMPLES - KEPT);
	CHECK(strstr(profile.meta.damage, "too long: from byte"));
	profile_close(&profile);
}

UNIT_TEST(a_stack_told_by_number_is_the_stack_that_a_record_carries)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_stack(file, 2, site_b, 2);
	stream_alloc(file, 0x1000, 48, site_a, 2);
	stream_alloc_on(file, 0x2000, 48, 1);
	stream_alloc_on(file, 0x3000, 48, 2);
	stream_alloc_on(file, 0x4000, 48, 1);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.stack_count, 2);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[0].inuse_count, 3);
	CHECK_EQ(profile.row[1].inuse_count, 1);
	profile_close(&profile);
}

/*
 * What the addresses mean is decided when the stack is used: meanwhile another library may lie
 * there.
 */
UNIT_TEST(a_told_stack_belongs_to_the_modules_of_the_moment)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_alloc_on(file, 0x1000, 48, 1);
	stream_module_gone(file, 1);
	stream_alloc_on(file, 0x2000, 48, 1);
	stream_module(file, 2, REPLAYED_LO, REPLAYED_LO + 0x1000, "/opt/plugin.so");
	stream_alloc_on(file, 0x3000, 48, 1);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.stack_count, 3);
	CHECK_EQ(profile.frame[profile.stack[0].frame[0]].module, 0);
	CHECK_EQ(profile.frame[profile.stack[1].frame[0]].module, -1);
	CHECK_EQ(profile.frame[profile.stack[2].frame[0]].module, 1);
	profile_close(&profile);
}

UNIT_TEST(a_stack_that_was_not_told_is_one_unknown_frame)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 2, site_a, 2); /* out of turn */
	stream_alloc_on(file, 0x1000, 48, 2);
	stream_alloc_on(file, 0x2000, 48, UINT32_MAX);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(strstr(profile.meta.damage, "a stack out of turn"));
	CHECK_EQ(profile.stack_count, 1);
	CHECK_EQ(profile.stack[0].frame_count, 1);
	CHECK_EQ(profile.frame[profile.stack[0].frame[0]].module, -1);
	CHECK_EQ(profile.row[0].inuse_count, 2);
	CHECK_EQ(profile.meta.stacks_truncated, 2);
	profile_close(&profile);
}

/* What it is not known where it lay has no name; what stays has. */
UNIT_TEST(an_unsure_sample_is_in_no_module_that_may_change)
{
	const uint64_t site[] = {REPLAYED_LO + 0x10, 0x7000010};
	struct hi_stream_module stays = {
		.record = {.type = HI_STREAM_MODULE, .flags = HI_STREAM_STAYS},
		.module = 2,
		.lo = 0x7000000,
		.hi = 0x7001000,
		.path_size = 4};
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_put(file, &stays, sizeof(stays), "/exe", 4);
	stream_alloc_ended(file, 0x1000, HI_STREAM_UNSURE, site, 2, 48);
	stream_alloc_ended(file, 0x2000, 0, site, 2, 48);
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK(!profile.meta.damage);
	CHECK_EQ(profile.stack_count, 2);
	CHECK_EQ(profile.frame[profile.stack[0].frame[0]].module, -1);
	CHECK_EQ(profile.frame[profile.stack[0].frame[1]].module, 1);
	CHECK_EQ(profile.frame[profile.stack[1].frame[0]].module, 0);
	CHECK_EQ(profile.frame[profile.stack[1].frame[1]].module, 1);
	profile_close(&profile);
}

/* A plug-in that is loaded for each request. */
UNIT_TEST(a_module_that_comes_back_is_the_same_module)
{
	struct profile profile;
	FILE *file = stream_begin(1);

	stream_stack(file, 1, site_a, 2);
	stream_alloc_on(file, 0x1000, 48, 1);
	for (uint32_t i = 0; i < 3; i++) {
		stream_module_gone(file, 1 + i);
		stream_module(file, 2 + i, REPLAYED_LO, REPLAYED_LO + 0x1000, "/opt/plugin.so");
		stream_alloc_on(file, 0x2000 + 16 * i, 48, 1);
	}
	stream_end(file);
	CHECK_EQ(replayed(file, &profile), 0);
	CHECK_EQ(profile.module_count, 2);
	CHECK_EQ(profile.row_count, 2);
	profile_close(&profile);
}

UNIT_MAIN()
