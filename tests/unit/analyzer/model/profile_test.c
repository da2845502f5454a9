/* SPDX-License-Identifier: MIT */
/* profile_test.c - the model stores equal things once, and sorts sizes into classes as promised. */
#include "unit.h"

#include "profile.h"

UNIT_TEST(small_sizes_are_classes_of_their_own)
{
	CHECK_EQ(profile_size_class(0), 0);
	CHECK_EQ(profile_size_class(1), 1);
	CHECK_EQ(profile_size_class(1023), 1023);
	CHECK_EQ(profile_size_class(1024), 1024);
	CHECK(profile_size_class(1025) > 1024);
}

UNIT_TEST(large_sizes_have_16_classes_to_a_doubling)
{
	uint32_t last = profile_size_class(4095);
	uint32_t first = profile_size_class(2048);

	CHECK_EQ(last - first, 15);
	CHECK_EQ(profile_size_class(4096) - last, 1);
	for (uint64_t size = 1; size < 1u << 20; size++)
		CHECK(profile_size_class(size) - profile_size_class(size - 1) <= 1);
	CHECK(profile_size_class(UINT64_MAX) > profile_size_class(1ull << 62));
}

UNIT_TEST(coarse_classes_are_of_a_power_of_two_and_what_is_above_it)
{
	CHECK_EQ(profile_coarse_size_class(0), 0);
	CHECK_EQ(profile_coarse_size_class(1), 1);
	CHECK_EQ(profile_coarse_size_class(511), profile_size_class(256));
	CHECK_EQ(profile_coarse_size_class(512), profile_size_class(512));
	CHECK_EQ(profile_coarse_size_class(4095), profile_size_class(2048));
	CHECK_EQ(profile_coarse_size_class(UINT64_MAX), profile_size_class(1ull << 63));
}

UNIT_TEST(rows_that_are_read_stay_apart_where_none_is_weighed)
{
	CHECK_EQ(profile_size_class(1100), profile_size_class(1120));
	CHECK_EQ(profile_read_size_class(1100, 4096), profile_read_size_class(1120, 4096));
	CHECK(profile_read_size_class(1100, 1) != profile_read_size_class(1120, 1));
	CHECK_EQ(profile_read_size_class(1ull << 40, 1), profile_size_class(1ull << 40));
}

UNIT_TEST(equal_things_are_stored_once)
{
	struct profile profile;
	uint32_t a, b, stack, again, row, other;

	CHECK_EQ(profile_open(&profile), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1000, 0, &a), 0);
	CHECK_EQ(profile_frame_at(&profile, 0x1000, 1, &b), 0);
	CHECK(a != b);
	CHECK_EQ(profile_frame_at(&profile, 0x1000, 0, &b), 0);
	CHECK_EQ(a, b);

	const uint32_t frames[] = {a, 1, a};
	CHECK_EQ(profile_stack_of(&profile, frames, 3, 0, &stack), 0);
	CHECK_EQ(profile_stack_of(&profile, frames, 2, 0, &again), 0);
	CHECK(stack != again);
	CHECK_EQ(profile_stack_of(&profile, frames, 3, 1, &again), 0);
	CHECK(stack != again);
	CHECK_EQ(profile_stack_of(&profile, frames, 3, 0, &again), 0);
	CHECK_EQ(stack, again);

	CHECK_EQ(profile_row_at(&profile,
				&(struct profile_row_key){
					.stack = stack, .size_class = 16, .interval = 4096},
				&row),
		 0);
	CHECK_EQ(profile_row_at(&profile,
				&(struct profile_row_key){
					.stack = stack, .size_class = 32, .interval = 4096},
				&other),
		 0);
	CHECK(row != other);
	CHECK_EQ(profile_row_at(&profile,
				&(struct profile_row_key){
					.stack = stack, .size_class = 16, .interval = 4096},
				&other),
		 0);
	CHECK_EQ(row, other);
	profile_close(&profile);
}

UNIT_TEST(tables_grow_without_losing_anything)
{
	struct profile profile;
	uint32_t index;

	CHECK_EQ(profile_open(&profile), 0);
	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 20000; i++) {
			CHECK_EQ(profile_frame_at(&profile, 0x400000 + 16 * i, 0, &index), 0);
			CHECK_EQ(index, i);
			CHECK_EQ(profile_stack_of(&profile, &index, 1, 0, &index), 0);
			CHECK_EQ(index, i);
		}
	}
	CHECK_EQ(profile.frame_count, 20000);
	CHECK_EQ(profile.stack_count, 20000);
	profile_close(&profile);
}

UNIT_TEST(modules_are_copied)
{
	struct profile profile;
	char path[] = "/lib/a.so";
	uint32_t index;

	CHECK_EQ(profile_open(&profile), 0);
	CHECK_EQ(profile_add_module(&profile,
				    &(struct profile_module){.lo = 1, .hi = 2, .path = path},
				    &index),
		 0);
	path[0] = 'x';
	CHECK_STR(profile.module[index].path, "/lib/a.so");
	CHECK(profile.module[index].open_path == NULL);
	profile_close(&profile);
}

UNIT_TEST(a_profile_with_rows_of_a_base_is_a_comparison)
{
	struct profile profile;
	uint32_t row;

	CHECK_EQ(profile_open(&profile), 0);
	CHECK(!profile_is_comparison(&profile));
	CHECK_EQ(profile_row_at(&profile, &(struct profile_row_key){.size_class = 16}, &row), 0);
	CHECK(!profile_is_comparison(&profile));
	CHECK_EQ(profile_row_at(&profile,
				&(struct profile_row_key){.size_class = 16, .side = PROFILE_BASE},
				&row),
		 0);
	CHECK(profile_is_comparison(&profile));
	profile_close(&profile);
}

UNIT_TEST(a_frame_has_its_lines_in_their_order)
{
	static char store[] = "store", copy[] = "copy", file[] = "src/file.c";
	const struct profile_line lines[] = {{.function = store, .file = file, .line = 10},
					     {.function = copy, .line = 11}},
				  reversed[] = {lines[1], lines[0]};
	struct profile_frame frame = {0};

	CHECK(profile_frame_has_lines(&frame, lines, 0));
	CHECK(!profile_frame_has_lines(&frame, lines, 2));
	CHECK_EQ(profile_frame_lines(&frame, lines, 2), 0);
	CHECK(profile_frame_has_lines(&frame, lines, 2));
	CHECK(!profile_frame_has_lines(&frame, lines, 1));
	CHECK(!profile_frame_has_lines(&frame, reversed, 2));
	for (size_t i = 0; i < frame.line_count; i++) {
		free(frame.line[i].function);
		free(frame.line[i].system_name);
		free(frame.line[i].file);
	}
	free(frame.line);
}

#define STEP_NS UINT64_C(250000000)

static void add_moment(struct profile_meta *meta, uint64_t time_ns)
{
	profile_add_moment(meta, &(struct profile_moment){.time_ns = time_ns,
							  .anonymous = time_ns + 1,
							  .resident = time_ns + 2,
							  .seen = time_ns + 3});
}

UNIT_TEST(of_each_stretch_the_latest_moment_stays)
{
	struct profile_meta meta = {0};

	/* ten in each stretch: the first, and from then on the last before the next */
	for (uint64_t i = 0; i <= 40; i++)
		add_moment(&meta, 1 + i * STEP_NS / 10);
	CHECK_EQ(meta.moment_step_ns, STEP_NS);
	CHECK(meta.moment_count >= 5 && meta.moment_count <= 6);
	CHECK_EQ(meta.moment[0].time_ns, 1);
	CHECK_EQ(meta.moment[meta.moment_count - 1].time_ns, 1 + 4 * STEP_NS);
	CHECK_EQ(meta.moment[meta.moment_count - 1].anonymous, 2 + 4 * STEP_NS);
	CHECK_EQ(meta.moment[meta.moment_count - 1].resident, 3 + 4 * STEP_NS);
	CHECK_EQ(meta.moment[meta.moment_count - 1].seen, 4 + 4 * STEP_NS);
}

UNIT_TEST(moments_that_are_not_later_are_ignored)
{
	struct profile_meta meta = {0};

	add_moment(&meta, 7 * STEP_NS);
	add_moment(&meta, 7 * STEP_NS);
	add_moment(&meta, 2 * STEP_NS);
	CHECK_EQ(meta.moment_count, 1);
	CHECK_EQ(meta.moment[0].time_ns, 7 * STEP_NS);
}

UNIT_TEST(a_long_session_keeps_every_second_moment)
{
	struct profile_meta meta = {0};
	const uint64_t last = 8 * PROFILE_MOMENTS_MAX;

	for (uint64_t i = 0; i <= last; i++) {
		add_moment(&meta, 1 + i * STEP_NS);
		CHECK(meta.moment_count <= PROFILE_MOMENTS_MAX);
		/* the last one is the latest of all, at any time */
		CHECK_EQ(meta.moment[meta.moment_count - 1].time_ns, 1 + i * STEP_NS);
	}
	CHECK_EQ(meta.moment_step_ns, 16 * STEP_NS);
	CHECK(meta.moment_count > PROFILE_MOMENTS_MAX / 2 - 2);
	CHECK_EQ(meta.moment[0].time_ns, 1);
	/* evenly over the session */
	for (uint32_t i = 2; i + 1 < meta.moment_count; i++) {
		const uint64_t apart = meta.moment[i].time_ns - meta.moment[i - 1].time_ns;

		CHECK(apart >= 8 * STEP_NS && apart <= 32 * STEP_NS);
	}
}

UNIT_TEST(intervals_are_those_of_the_rows)
{
	static const uint64_t intervals[] = {4096, 512, 65536};
	uint64_t finest, coarsest;
	struct profile profile;
	uint32_t row;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.interval = 32768;
	profile_intervals(&profile, &finest, &coarsest);
	CHECK_EQ(finest, 32768);
	CHECK_EQ(coarsest, 32768);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(profile_row_at(&profile,
					&(struct profile_row_key){.size_class = 48,
								  .interval = intervals[i]},
					&row),
			 0);
	profile_intervals(&profile, &finest, &coarsest);
	CHECK_EQ(finest, 512);
	CHECK_EQ(coarsest, 65536);
	profile_close(&profile);
}

UNIT_MAIN()
