/* SPDX-License-Identifier: MIT */
/*
 * answer_compare_test.c - what grows by its samples, compared with what was freed, with what the
 * allocators count in use, and with the memory of the process.
 */
#include "unit.h"

#include "answer_scene.h"

#define KIB 1024u
#define MIB (1024u * KIB)
/* 100 blocks are 1.6 MB in 20 s: more than the steps in which the memory of a process grows */
#define SIZE (16u * KIB)
#define COUNT 100u

static const char leak_stack[] = "main;serve;leak_here;malloc",
		  cache_stack[] = "main;serve;fill_cache;malloc";

UNIT_TEST(what_takes_the_place_of_older_blocks_is_no_leak)
{
	struct profile profile = scene_open();

	scene_leak(&profile, cache_stack, SIZE, COUNT);
	scene_old_freed(&profile, SIZE, COUNT);
	scene_looks(&profile, 0);
	struct answer answer = scene_only_row(&profile, TREND_REPLACES);
	CHECK_STR(scene_function(&answer, 0), "fill_cache");
	CHECK(answer.slope == 0 && answer.explained < 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* As a leak looks the same as long as older blocks are freed. */
UNIT_TEST(what_replaces_older_blocks_is_decided_by_what_is_in_use)
{
	struct profile profile = scene_open();

	scene_leak(&profile, cache_stack, 4 * SIZE, COUNT);
	scene_old_freed(&profile, 4 * SIZE, COUNT - 20);
	for (int looks = 0; looks < 3; looks++) {
		static const double grown[] = {0, 15.0 * 4 * SIZE, 20.0 * 4 * SIZE};

		if (looks)
			scene_looks(&profile, grown[looks]);
		struct answer answer = scene_answer(&profile);
		CHECK_EQ(answer.verdict, looks == 1 ? TREND_REPLACES : TREND_TOO_FEW);
		CHECK_EQ(answer.row[0].trend.verdict, TREND_REPLACES);
		CHECK(answer.more_ns == (looks == 1 ? 0 : answer.window_ns));
		answer_close(&answer);
	}
	profile_close(&profile);
}

/* What is in use has the slope of most of the time; how much it is at the end tells more. */
UNIT_TEST(what_begins_late_grows_by_all_that_comes)
{
	struct profile profile = scene_open();

	for (uint32_t i = 0; i < COUNT; i++)
		scene_block(&profile, leak_stack, SIZE, 6 + (SCENE_S - 6) * (i + 0.5) / COUNT,
			    SCENE_S);
	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		heap_history_add(
			&profile.meta.heap,
			&(struct heap_moment){
				.time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
				.anonymous = 100 * MIB,
				.used_bytes =
					50 * MIB +
					(uint64_t)(s <= 17 ? 0 : SIZE * COUNT * (s - 17) / 3.0)});
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(answer.use.is_known && answer.slope_low > 1.1 * answer.use.high);
	CHECK(!answer.is_partly);
	answer_close(&answer);
	profile_close(&profile);
}

/* Larger blocks in the place of smaller ones: it grows, but not by all that comes. */
UNIT_TEST(what_replaces_smaller_blocks_grows_by_the_difference)
{
	struct profile profile = scene_open();
	const double come = 4.0 * SIZE * COUNT, more = 0.6 * come;

	scene_leak(&profile, cache_stack, 4 * SIZE, COUNT);
	scene_process(&profile, more);
	scene_looks(&profile, more);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(answer.is_partly);
	CHECK(scene_is_near(answer.slope, come / SCENE_S, 0.1));
	CHECK(scene_is_near(answer.explained, 1, 0.02));
	CHECK(answer.explained_high < 1.1);
	answer_close(&answer);
	/* all of it */
	scene_looks(&profile, come);
	profile.meta.moment_count = 0;
	scene_process(&profile, come);
	answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(!answer.is_partly && scene_is_near(answer.explained, 1, 0.1));
	answer_close(&answer);
	profile_close(&profile);
}

/* A free of another size makes no room for it, nor do few frees. */
UNIT_TEST(only_frees_of_its_sizes_take_from_growth)
{
	for (int other = 0; other < 2; other++) {
		struct profile profile = scene_open();

		scene_leak(&profile, leak_stack, SIZE, COUNT);
		if (other)
			scene_old_freed(&profile, 4 * SIZE, COUNT);
		else
			scene_old_freed(&profile, SIZE, COUNT / 10);
		struct answer answer = scene_only_row(&profile, TREND_GROWS);
		answer_close(&answer);
		profile_close(&profile);
	}
}

/* It may be a leak of which few pages are touched, or into memory that was free. */
UNIT_TEST(what_grows_while_the_process_does_not_is_undecided)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_process(&profile, 0);
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK(answer.process.is_known && answer.process.slope == 0);
	CHECK(answer.row[0].is_unshown);
	CHECK(answer.more_ns == answer.window_ns);
	answer_close(&answer);
	/* what it had at the start lasts for 16 times what grew in the window */
	profile.meta.memory.anonymous_begin = 16ull * SIZE * COUNT;
	answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK(scene_is_near(answer.more_ns, 15 * SCENE_S * SCENE_NS_PER_S, 0.1));
	answer_close(&answer);
	profile_close(&profile);
}

/* Their count knows nothing of pages. */
UNIT_TEST(a_leak_that_the_process_does_not_show_is_in_use)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_process(&profile, 0);
	scene_looks(&profile, SIZE * COUNT);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(answer.use.is_known && !answer.row[0].is_unshown);
	CHECK(scene_is_near(answer.use.slope, SIZE * COUNT / SCENE_S, 0.01));
	answer_close(&answer);
	/* nor of how little it is */
	profile.meta.moment_count = 0;
	profile_forget(&profile);
	scene_leak(&profile, leak_stack, KIB, 64);
	scene_process(&profile, 0);
	scene_looks(&profile, 64 * KIB);
	answer = scene_only_row(&profile, TREND_GROWS);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(what_grows_while_no_more_is_in_use_is_no_leak)
{
	struct profile profile = scene_open();

	scene_leak(&profile, cache_stack, SIZE, COUNT);
	scene_looks(&profile, 0);
	struct answer answer = scene_only_row(&profile, TREND_REPLACES);
	answer_close(&answer);
	/* whatever else the process grows by */
	scene_process(&profile, SIZE * COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.row[0].trend.verdict, TREND_REPLACES);
	answer_close(&answer);
	profile_close(&profile);
}

/* An allocator that nobody has counted may be where the leak is. */
UNIT_TEST(looks_that_miss_an_allocator_decide_nothing)
{
	static char glibc[] = "glibc 2.36", both[] = "glibc 2.36 and jemalloc 5.3",
		    hooked[] = "glibc in libc.so.6\nan allocator in program", refusal[] = "no";
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_process(&profile, 0);
	scene_looks(&profile, 0);
	profile.meta.heap.name = glibc;
	profile.meta.hooked = hooked;
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	answer_close(&answer);
	profile.meta.heap.name = both;
	answer = scene_only_row(&profile, TREND_REPLACES);
	answer_close(&answer);
	profile.meta.heap.refusal = refusal;
	answer = scene_only_row(&profile, TREND_TOO_FEW);
	answer_close(&answer);
	profile.meta.heap.refusal = NULL;
	/* the samples see more in use than it has counted */
	for (uint32_t i = 0; i < profile.meta.moment_count; i++)
		profile.meta.moment[i].seen = 70u * MIB;
	answer = scene_only_row(&profile, TREND_TOO_FEW);
	answer_close(&answer);
	profile.meta.moment_count = 0;
	scene_process(&profile, 0);
	profile.meta.heap.count = 5; /* too few */
	answer = scene_only_row(&profile, TREND_TOO_FEW);
	answer_close(&answer);
	profile.meta.heap.name = profile.meta.hooked = NULL;
	profile_close(&profile);
}

/* Frees that were counted wrongly; or two of a kind, and the count is of both. */
UNIT_TEST(what_is_in_use_may_contradict_frees)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_old_freed(&profile, SIZE, COUNT);
	scene_looks(&profile, SIZE * COUNT);
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK(answer.more_ns > 0);
	answer_close(&answer);
	/* another one is why more is in use */
	scene_leak(&profile, "main;serve;other;malloc", 4 * SIZE, COUNT);
	scene_looks(&profile, 4 * SIZE * COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "other");
	CHECK_EQ(answer.row[1].trend.verdict, TREND_REPLACES);
	answer_close(&answer);
	profile_close(&profile);
}

/* A leak that is touched in part, beside a cache of other sizes. */
UNIT_TEST(places_that_grow_more_than_what_is_in_use_are_undecided)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_leak(&profile, cache_stack, SIZE, COUNT);
	scene_process(&profile, 0);
	scene_looks(&profile, SIZE * COUNT);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.row_count, 2);
	CHECK_EQ(answer.row[0].trend.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.row[1].trend.verdict, TREND_TOO_FEW);
	answer_close(&answer);
	/* both leak */
	scene_looks(&profile, 2 * SIZE * COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_EQ(answer.growing, 2);
	answer_close(&answer);
	profile_close(&profile);
}

/* Classes have no stacks: what came in addition may be of either. */
UNIT_TEST(frees_do_not_confirm_two_places_of_the_same_sizes)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, 2 * COUNT);
	scene_leak(&profile, cache_stack, SIZE, COUNT);
	scene_old_freed(&profile, SIZE, COUNT);
	scene_process(&profile, 2.0 * SIZE * COUNT);
	scene_looks(&profile, 2.0 * SIZE * COUNT);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.row_count, 2);
	CHECK_EQ(answer.growing, 0);
	CHECK_EQ(answer.doubted, 2);
	CHECK(scene_is_near(answer.doubted_slope, 3.0 * SIZE * COUNT / SCENE_S, 0.01));
	answer_close(&answer);
	/* both leak, as the frees were of the session */
	scene_looks(&profile, 3.0 * SIZE * COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.growing, 2);
	CHECK_EQ(answer.doubted, 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* Had the cache added all that it holds, there would still be more of the leak. */
UNIT_TEST(frees_confirm_what_exceeds_a_small_cache_of_the_same_sizes)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_leak(&profile, cache_stack, SIZE, 2 * COUNT / 5);
	scene_old_freed(&profile, SIZE, 2 * COUNT / 5);
	scene_looks(&profile, SIZE * COUNT);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_EQ(answer.growing, 1);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK_EQ(answer.row[1].trend.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.doubted, 1);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(a_leak_beside_a_full_cache_still_grows)
{
	struct profile profile = scene_open();

	scene_leak(&profile, cache_stack, 4 * SIZE, COUNT);
	scene_old_freed(&profile, 4 * SIZE, COUNT);
	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_process(&profile, 0); /* knows less than the frees, which are of each size */
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_EQ(answer.row_count, 2);
	CHECK_EQ(answer.growing, 1);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK_EQ(answer.row[0].trend.verdict, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 1), "fill_cache");
	CHECK_EQ(answer.row[1].trend.verdict, TREND_REPLACES);
	CHECK(answer.slope == answer.row[0].trend.slope);
	answer_close(&answer);
	profile_close(&profile);
}

/* Objects of one size in the place of others of another size: frees of its size show nothing. */
UNIT_TEST(what_replaces_blocks_of_another_size_is_no_leak)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_old_freed(&profile, 4 * SIZE, COUNT / 4);
	scene_process(&profile, 0);
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	answer_close(&answer);
	scene_looks(&profile, 0);
	answer = scene_only_row(&profile, TREND_REPLACES);
	answer_close(&answer);
	profile_close(&profile);
}

/* More than the process had cannot have been freed: the count is wrong. */
UNIT_TEST(impossible_counts_of_frees_decide_nothing)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_old_freed(&profile, SIZE, 20 * COUNT);
	scene_process(&profile, SIZE * COUNT);
	profile.meta.memory.anonymous_begin = 100u * MIB;
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.row_count, 1);
	CHECK_EQ(answer.row[0].trend.verdict, TREND_REPLACES);
	answer_close(&answer);
	profile.meta.memory.anonymous_begin = 10u * MIB;
	answer = scene_only_row(&profile, TREND_GROWS);
	answer_close(&answer);
	profile_close(&profile);
}

/* Two places that grow by 1.6 MB each, and a process that grows by as much once. */
UNIT_TEST(places_that_grow_more_than_the_process_are_undecided)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_leak(&profile, cache_stack, SIZE, COUNT);
	scene_process(&profile, SIZE * COUNT);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.growing, 0);
	CHECK_EQ(answer.row_count, 2);
	answer_close(&answer);
	/* frees do not tell the one from the other */
	scene_old_freed(&profile, SIZE, COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	answer_close(&answer);
	profile_close(&profile);
}

/* One that leaks may be among those that replace older blocks, if the process grows. */
UNIT_TEST(a_process_that_grows_while_blocks_are_replaced_is_undecided)
{
	struct profile profile = scene_open();

	scene_leak(&profile, cache_stack, 10 * SIZE, COUNT);
	scene_old_freed(&profile, 10 * SIZE, COUNT - 15);
	scene_process(&profile, 150.0 * SIZE);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.row[0].trend.verdict, TREND_REPLACES);
	CHECK(answer.more_ns > 0);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(growth_that_the_process_would_not_show_is_undecided)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, KIB, 64);
	scene_process(&profile, 0);
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	/* 64 KiB of the 256 KiB that show */
	CHECK(scene_is_near(answer.more_ns, 3 * SCENE_S * SCENE_NS_PER_S, 0.05));
	CHECK(answer.more_ns == answer.row[0].trend.more_ns);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(frees_confirm_growth_that_the_process_would_not_show)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, KIB, 64);
	scene_process(&profile, 0);
	scene_old_freed(&profile, 4 * KIB, 4);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	answer_close(&answer);
	profile_close(&profile);
}

/*
 * One sample in 64 KiB: of 16 KiB blocks one in five is a sample, and as many more of the session
 * were freed as samples say. If these are most of what was freed, nothing follows from that.
 */
UNIT_TEST(frees_of_the_session_are_not_taken_for_older_ones)
{
	for (int churns = 0; churns < 2; churns++) {
		struct profile profile = scene_open();

		profile.meta.interval = 64 * KIB;
		scene_leak(&profile, leak_stack, SIZE, 100);
		/* 100 samples stand for 452 blocks, of which 352 were no samples */
		if (churns)
			scene_blocks(&profile, "main;churn;malloc", SIZE, 100, 0.1);
		scene_old_freed(&profile, SIZE, churns ? 690 : 452);
		struct answer answer = scene_answer(&profile);
		CHECK_EQ(answer.row_count, 1);
		CHECK_EQ(answer.row[0].trend.verdict, churns ? TREND_GROWS : TREND_REPLACES);
		CHECK_STR(scene_function(&answer, 0), "leak_here");
		answer_close(&answer);
		profile_close(&profile);
	}
}

UNIT_TEST(the_explained_share_is_of_the_process)
{
	static const double times[] = {1, 2, 4};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct profile profile = scene_open();

		scene_leak(&profile, leak_stack, SIZE, COUNT);
		scene_process(&profile, times[i] * SIZE * COUNT);
		struct answer answer = scene_only_row(&profile, TREND_GROWS);
		CHECK(scene_is_near(answer.explained, 1 / times[i], 0.05));
		CHECK(scene_is_near(answer.process.bytes, times[i] * SIZE * COUNT, 0.01));
		answer_close(&answer);
		profile_close(&profile);
	}
}

/* The process grows by what the allocator makes of what is requested. */
UNIT_TEST(the_explained_share_has_what_the_allocator_rounds_up)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_process(&profile, 2.0 * SIZE * COUNT);
	profile.meta.slack_samples = COUNT;
	profile.row[0].alloc_slack = profile.row[0].inuse_slack = (uint64_t)SIZE * COUNT / 2;
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(scene_is_near(answer.rounding, answer.slope / 2, 0.01));
	CHECK(scene_is_near(answer.held, 1.5 * SIZE * COUNT, 0.01));
	CHECK(scene_is_near(answer.explained, 0.75, 0.05));
	CHECK(scene_is_near(answer.explained_high / answer.explained,
			    answer.slope_high / answer.slope, 0.01));
	answer_close(&answer);
	profile_close(&profile);
}

/* Where nothing says how the process grew, no share is stated. */
UNIT_TEST(the_explained_share_is_not_guessed)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(!answer.process.is_known && answer.explained < 0);
	answer_close(&answer);
	scene_process(&profile, 4 * MIB);
	for (uint32_t i = 0; i < profile.meta.moment_count; i++)
		profile.meta.moment[i].anonymous = 0;
	answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(!answer.process.is_known && answer.explained < 0);
	answer_close(&answer);
	/* less than the steps in which memory grows */
	profile.meta.moment_count = 0;
	scene_process(&profile, 100 * KIB);
	scene_old_freed(&profile, 4 * SIZE, 1);
	answer = scene_only_row(&profile, TREND_GROWS);
	CHECK(answer.process.is_known && answer.process.slope > 0 && answer.explained < 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* Files and shared memory count towards what is resident, and are no growth of the heap. */
UNIT_TEST(what_is_resident_and_not_anonymous_is_told_apart)
{
	struct profile profile = scene_open();

	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		profile_add_moment(
			&profile.meta,
			&(struct profile_moment){.time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
						 .anonymous = 100u * MIB,
						 .resident = (uint64_t)(110 + s) * MIB});
	struct answer answer = scene_answer(&profile);
	CHECK(answer.process.is_known);
	CHECK(answer.process.bytes == 0);
	CHECK(answer.process.other_bytes == SCENE_S * MIB);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_MAIN()
