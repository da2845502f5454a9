/* SPDX-License-Identifier: MIT */
/* answer_test.c - sessions by hand whose answer is known: who leaks, and who only seems to. */
#include "unit.h"

#include <math.h>

#include "answer_scene.h"
#include "caveats.h"

#define KIB 1024u
/* 100 blocks are 1.6 MB in 20 s: more than the steps in which the memory of a process grows */
#define SIZE (16u * KIB)
#define COUNT 100u
/* sure enough for the only place, and not for one of 200 */
#define FEW 24u

static const char leak_stack[] = "main;serve;leak_here;malloc";

UNIT_TEST(a_leak_is_named_by_the_frame_to_look_at)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_blocks(&profile, "main;serve;churn;malloc", SIZE, 400, 0.5);
	scene_process(&profile, SIZE * COUNT);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK(!answer.row[0].is_caller);
	CHECK_EQ(answer.row[0].stacks, 1);
	CHECK(answer.row[0].live == SIZE * COUNT);
	CHECK(scene_is_near(answer.slope, SIZE * COUNT / SCENE_S, 0.02));
	CHECK(answer.slope_low < answer.slope && answer.slope < answer.slope_high);
	CHECK(answer.slope_low > 0.5 * answer.slope);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(stacks_without_frames_are_a_place_of_their_own)
{
	struct profile profile = scene_open();

	scene_leak(&profile, "", SIZE, COUNT);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK_EQ(answer.row[0].call, NO_CALL);
	CHECK_STR(scene_function(&answer, 0), "(no stack)");
	answer_close(&answer);
	scene_blocks(&profile, leak_stack, SIZE, COUNT, 0.5);
	answer = scene_only_row(&profile, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "(no stack)");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(the_bars_rise_with_what_is_held)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	for (size_t bar = 0; bar < ANSWER_BARS; bar++)
		CHECK(fabs(answer.row[0].bar[bar] - (double)(bar + 1) / ANSWER_BARS) < 0.08);
	CHECK(answer.row[0].bar[ANSWER_BARS - 1] == 1);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(stacks_of_one_function_are_one_row)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_leak(&profile, "main;reload;leak_here;calloc", SIZE, COUNT / 2);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK_EQ(answer.row[0].stacks, 2);
	CHECK(answer.row[0].live == SIZE * (COUNT + COUNT / 2));
	answer_close(&answer);
	profile_close(&profile);
}

/* 40 functions with 3 blocks each, which say nothing alone. */
static void leak_through(struct profile *profile, const char *caller)
{
	for (uint32_t i = 0; i < 120; i++) {
		char names[64];

		snprintf(names, sizeof(names), "main;%s;part_%u;malloc", caller, i * 7 % 40);
		scene_block(profile, names, SIZE, SCENE_S * (i + 0.5) / 120, SCENE_S);
	}
}

UNIT_TEST(a_leak_over_many_functions_is_named_by_their_caller)
{
	struct profile profile = scene_open();

	leak_through(&profile, "handle_request");
	scene_blocks(&profile, "main;serve;churn;malloc", SIZE, 400, 0.5);
	scene_process(&profile, SIZE * 120);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "handle_request");
	CHECK(answer.row[0].is_caller && !answer.row[0].is_scattered);
	CHECK_EQ(answer.row[0].stacks, 40);
	CHECK(answer.row[0].live == SIZE * 120);
	CHECK_EQ(answer.growing, 1);
	answer_close(&answer);
	profile_close(&profile);
}

/* Threads that begin in functions of their own have no caller in common: none is said to be one. */
UNIT_TEST(without_a_common_caller_none_is_named_as_such)
{
	struct profile profile = scene_open();

	for (uint32_t i = 0; i < 120; i++) {
		char names[64];

		snprintf(names, sizeof(names), "work_%u;malloc", i * 7 % 40);
		scene_block(&profile, names, SIZE, SCENE_S * (i + 0.5) / 120, SCENE_S);
	}
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK(strncmp(scene_function(&answer, 0), "work_", 5) == 0);
	CHECK(!answer.row[0].is_caller && answer.row[0].is_scattered);
	CHECK_EQ(answer.row[0].stacks, 40);
	answer_close(&answer);
	profile_close(&profile);
}

/* 200 functions that fill at one time, and stay; one that is busy all the time. */
static void add_many_steady(struct profile *profile, uint64_t size, double at_s)
{
	for (uint32_t i = 0; i < 200; i++) {
		char names[64];

		snprintf(names, sizeof(names), "main;start_%u;malloc", i);
		for (uint32_t k = 0; k < 10; k++)
			scene_block(profile, names, size, at_s + 0.01 * k, SCENE_S);
	}
	scene_blocks(profile, "main;churn;malloc", 64, 8000, 0.01);
}

/* As one of 200 it is not sure enough, as all that remains it is: a place is no caller of itself.
 */
UNIT_TEST(a_place_is_not_its_own_caller)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, 64 * KIB, FEW);
	add_many_steady(&profile, 64, 0.1);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.row_count, 1);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK(trend_is_growth(answer.row[0].trend.verdict));
	CHECK(!answer.row[0].is_caller && !answer.row[0].is_scattered);
	answer_close(&answer);
	profile_close(&profile);
}

/* What filled while the program warmed up is most of what there is, and says nothing. */
UNIT_TEST(a_warm_up_hides_no_place)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, 64 * KIB, FEW);
	add_many_steady(&profile, 64 * KIB, 0.1);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.row_count, 1);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK(trend_is_growth(answer.row[0].trend.verdict));
	CHECK(scene_is_near(answer.slope, 64 * KIB * FEW / SCENE_S, 0.1));
	answer_close(&answer);
	profile_close(&profile);
}

/* Nothing leaks faster than what is held allows, and no slower leak would be found for certain. */
UNIT_TEST(a_claim_is_no_smaller_than_what_is_held)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, 6);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.growing, 0);
	CHECK(answer.claimed > 0.5 * 6 * SIZE / SCENE_S);
	CHECK(answer.claimed <= 6 * SIZE / SCENE_S);
	answer_close(&answer);
	profile_close(&profile);
}

/* Nor than what was passed over, of which nothing is known. */
UNIT_TEST(a_claim_is_no_smaller_than_what_was_passed_over)
{
	struct profile profile = scene_open();

	scene_blocks(&profile, "main;serve;churn;malloc", SIZE, 1000, 0.5);
	profile.meta.passed_bytes = 40ull * SIZE;
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_STEADY);
	CHECK(scene_is_near(answer.claimed, 40 * SIZE / SCENE_S, 0.001));
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(nothing_grows)
{
	struct profile profile = scene_open();

	scene_blocks(&profile, "main;serve;churn;malloc", SIZE, 1000, 0.5);
	scene_process(&profile, 0);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_STEADY);
	CHECK_EQ(answer.row_count, 0);
	CHECK_EQ(answer.growing, 0);
	CHECK(answer.explained < 0 && answer.more_ns == 0);
	/* 32 samples of an exact profile in 20 s */
	CHECK(answer.detectable == 32 / SCENE_S);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(what_would_be_found_follows_the_coarsest_interval_of_most_of_the_time)
{
	struct profile profile = scene_open();
	static const struct profile_change changes[] = {{0, 32 * KIB},
							{2000000000, 512 * KIB},
							{4000000000, 16 * KIB},
							{9000000000, 64 * KIB}};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		profile_add_change(&profile.meta, &changes[i]);
	struct answer answer = scene_answer(&profile);
	CHECK(answer.detectable == 32 * 64.0 * KIB / SCENE_S);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(caveats_withhold_the_answer)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	CHECK_EQ(caveats_set(&profile.meta, HI_CAVEAT_MISSED_FREES, "frees go past"), 0);
	CHECK(caveats_withhold_verdicts(caveats_bits(&profile.meta)));
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_UNSURE);
	CHECK_EQ(answer.row_count, 0);
	CHECK(answer.explained < 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* The more places could have grown by chance, the more a single one must show. */
UNIT_TEST(the_level_is_divided_among_the_groups)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, 64 * KIB, FEW);
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	answer_close(&answer);
	add_many_steady(&profile, 64 * KIB, 12);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK_EQ(answer.growing, 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* Only the fastest are rows, but all count. */
UNIT_TEST(rows_are_the_fastest_of_those_that_grow)
{
	struct profile profile = scene_open();

	for (uint32_t i = 1; i <= ANSWER_ROWS + 2; i++) {
		char names[64];

		snprintf(names, sizeof(names), "main;leak_%u;malloc", i);
		scene_leak(&profile, names, SIZE * i, COUNT);
	}
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.row_count, ANSWER_ROWS);
	CHECK_EQ(answer.growing, ANSWER_ROWS + 2);
	CHECK_STR(scene_function(&answer, 0), "leak_7");
	CHECK_STR(scene_function(&answer, ANSWER_ROWS - 1), "leak_3");
	CHECK(scene_is_near(answer.slope, (1 + 2 + 3 + 4 + 5 + 6 + 7) * SIZE * COUNT / SCENE_S,
			    0.02));
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(a_profile_without_a_window_has_no_answer)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	profile.meta.duration_ns = (uint64_t)(SCENE_TAIL_S * SCENE_NS_PER_S);
	struct answer answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_UNSURE);
	CHECK_EQ(answer.row_count, 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* Places that leak next to nothing beside one that leaks much are neither counted nor shown. */
UNIT_TEST(what_grows_by_next_to_nothing_is_left_out)
{
	struct profile profile = scene_open();

	scene_leak(&profile, leak_stack, SIZE, COUNT);
	scene_leak(&profile, "main;serve;note;malloc", 8, COUNT);
	scene_old_freed(&profile, 100, 1); /* all frees are known */
	struct answer answer = scene_only_row(&profile, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	answer_close(&answer);
	scene_leak(&profile, "main;serve;remember;malloc", SIZE / 50, COUNT);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.growing, 2);
	CHECK_STR(scene_function(&answer, 1), "remember");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_MAIN()
