/* SPDX-License-Identifier: MIT */
/* merge_test.c - profiles that are added up, and one that counts against another. */
#include "unit.h"

#include "estimate.h"
#include "merge.h"

#define EXACT 1u

/*
 * One stack of these two frames in a module, sampled `count` times with 64 bytes each by a thread.
 */
static void make(struct profile *profile, uint64_t leaf, uint64_t count, const char *thread)
{
	const struct profile_module module = {
		.lo = 0x400000, .hi = 0x500000, .number = 1, .path = (char[]){"/bin/server"}};
	uint32_t frames[2], module_index, stack, row, part, thread_index;

	CHECK_EQ(profile_open(profile), 0);
	profile->meta.interval = EXACT;
	profile->meta.samples = count;
	CHECK_EQ(profile_add_module(profile, &module, &module_index), 0);
	CHECK_EQ(profile_frame_at(profile, leaf, (int32_t)module_index, &frames[0]), 0);
	CHECK_EQ(profile_frame_named(
			 profile, &(struct profile_line){.function = (char[]){"main"}, .line = 7},
			 1, &frames[1]),
		 0);
	CHECK_EQ(profile_stack_of(profile, frames, 2, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){
					.stack = stack, .size_class = 64, .interval = EXACT},
				&row),
		 0);
	profile->row[row].alloc_count = profile->row[row].inuse_count = count;
	profile->row[row].alloc_bytes = profile->row[row].inuse_bytes = 64 * count;
	if (!thread)
		return;
	CHECK_EQ(thread_breakdown_thread(&profile->breakdown, thread, 9, &thread_index), 0);
	CHECK_EQ(thread_breakdown_of(&profile->breakdown, row, thread_index, &part), 0);
	profile->breakdown.part[part].inuse_count = count;
}

static void merge(struct profile *into, uint64_t leaf, uint64_t count, const char *thread,
		  enum profile_side side)
{
	struct profile profile;

	make(&profile, leaf, count, thread);
	CHECK_EQ(profile_merge(into, &profile, side), 0);
	profile_close(&profile);
}

UNIT_TEST(a_sum_has_the_longest_window_and_keeps_ages)
{
	struct profile all, part;
	const uint64_t windows[] = {100, 400, 300}, born[] = {20, 50, 290};
	uint64_t age = 0;

	CHECK_EQ(profile_open(&all), 0);
	for (size_t i = 0; i < 3; i++) {
		make(&part, 0x400100, 2, NULL);
		part.meta.pid = 77;
		part.meta.duration_ns = windows[i];
		part.row[0].inuse_ns = 2 * (double)born[i];
		age += 2 * (windows[i] - born[i]);
		CHECK_EQ(profile_merge(&all, &part, PROFILE_NEW), 0);
		CHECK_EQ(all.meta.pid, i ? 0 : 77);
		profile_close(&part);
	}
	CHECK_EQ(all.meta.duration_ns, 400);
	CHECK_EQ(all.meta.files, 3);
	CHECK(estimate_of(&all, &all.row[0], INUSE_SPACE).age_ns == (double)age);
	profile_close(&all);
}

UNIT_TEST(like_is_added_to_like)
{
	struct profile all;

	CHECK_EQ(profile_open(&all), 0);
	merge(&all, 0x400100, 3, NULL, PROFILE_NEW);
	all.row[0].grain = 4096;
	merge(&all, 0x400100, 4, NULL, PROFILE_NEW);
	CHECK_EQ(all.row[0].grain, 4096);
	merge(&all, 0x400200, 5, NULL, PROFILE_NEW);
	CHECK_EQ(all.module_count, 1);
	CHECK_EQ(all.frame_count, 3);
	CHECK_EQ(all.stack_count, 2);
	CHECK_EQ(all.row_count, 2);
	CHECK_EQ(all.row[0].inuse_bytes, 64 * 7);
	CHECK_EQ(all.row[1].inuse_bytes, 64 * 5);
	CHECK_EQ(all.meta.samples, 12);
	CHECK_STR(all.frame[all.stack[1].frame[1]].line[0].function, "main");
	profile_close(&all);
}

/* A sampled mapping of which a part is gone is as likely as the whole one was. */
UNIT_TEST(a_sum_of_mappings_is_of_mappings)
{
	struct profile all, one;
	struct estimate sum;

	CHECK_EQ(profile_open(&all), 0);
	for (int i = 0; i < 2; i++) {
		make(&one, 0x400100, 3, NULL);
		one.row[0].key.interval = 1000;
		one.row[0].inuse_bytes /= 2;
		one.row[0].is_mapping = true;
		sum = estimate_of(&one, &one.row[0], INUSE_SPACE);
		CHECK_EQ(profile_merge(&all, &one, PROFILE_NEW), 0);
		profile_close(&one);
	}
	CHECK(all.row[0].is_mapping && !all.row[0].is_pooled);
	CHECK_EQ(estimate_round(estimate_of(&all, &all.row[0], INUSE_SPACE).value),
		 estimate_round(2 * sum.value));
	profile_close(&all);
}

UNIT_TEST(a_base_counts_against_the_rest)
{
	struct profile all;

	CHECK_EQ(profile_open(&all), 0);
	merge(&all, 0x400100, 3, NULL, PROFILE_NEW);
	merge(&all, 0x400100, 10, NULL, PROFILE_BASE);
	CHECK_EQ(all.stack_count, 1);
	CHECK_EQ(all.row_count, 2);
	const struct estimate total = estimate_total(&all, INUSE_OBJECTS);
	CHECK(total.value == -7);
	CHECK(total.base == 10);
	CHECK_EQ(all.meta.samples, 3);
	profile_close(&all);
}

/*
 * The parts of a row add up to it, so what has no threads gets nobody's part as soon as something
 * else has some.
 */
UNIT_TEST(threads_of_one_name_and_number_are_one)
{
	struct profile all;
	uint64_t nobodys = 0, workers = 0;

	CHECK_EQ(profile_open(&all), 0);
	merge(&all, 0x400100, 3, NULL, PROFILE_NEW);
	merge(&all, 0x400100, 4, "worker", PROFILE_NEW);
	merge(&all, 0x400200, 5, "worker", PROFILE_NEW);
	merge(&all, 0x400200, 6, NULL, PROFILE_NEW);
	CHECK_EQ(all.breakdown.thread_count, 2);
	for (size_t i = 0; i < all.breakdown.count; i++)
		*(all.breakdown.part[i].thread ? &workers : &nobodys) +=
			all.breakdown.part[i].inuse_count;
	CHECK_EQ(workers, 9);
	CHECK_EQ(nobodys, 9);
	profile_close(&all);
}

UNIT_MAIN()
