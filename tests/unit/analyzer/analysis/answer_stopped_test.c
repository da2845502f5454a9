/* SPDX-License-Identifier: MIT */
/*
 * answer_stopped_test.c - what has grown for a part of the window and is still there, and what
 * only looks like that.
 */
#include "unit.h"

#include "answer_scene.h"

#define KIB 1024u
#define MIB (1024u * KIB)
#define SIZE (16u * KIB)
#define COUNT 320u
#define RISE (5.0 * MIB) /* SIZE * COUNT */
#define BEGIN_S 2
#define END_S 7

static const char leak_stack[] = "main;serve;leak_here;malloc";

/* A leak from 2 s to 7 s. */
static struct profile open_burst(void)
{
	struct profile profile = scene_open();

	for (uint32_t i = 0; i < COUNT; i++)
		scene_block(&profile, leak_stack, SIZE,
			    BEGIN_S + (END_S - BEGIN_S) * (i + 0.5) / COUNT, SCENE_S);
	return profile;
}

static double ramp_at(uint32_t s)
{
	return s <= BEGIN_S ? 0 : s >= END_S ? 1 : (s - BEGIN_S) / (double)(END_S - BEGIN_S);
}

/* Looks each second: base, and rise more from END_S on, but in the tenth second less by dip. */
static void add_looks(struct profile *profile, double base, double rise, double dip)
{
	profile->meta.heap.count = 0;
	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		heap_history_add(&profile->meta.heap,
				 &(struct heap_moment){
					 .time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
					 .anonymous = 100 * MIB,
					 .used_bytes = (uint64_t)(base + rise * ramp_at(s) -
								  (s == END_S + 3 ? dip : 0))});
}

UNIT_TEST(a_leak_that_ended_is_undecided)
{
	struct profile profile = open_burst();

	add_looks(&profile, 50 * MIB, RISE, 0);
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK_STR(scene_function(&answer, 0), "leak_here");
	CHECK(scene_is_near(answer.risen, RISE, 0.01));
	CHECK(scene_is_near(answer.row[0].came_ns, END_S * SCENE_NS_PER_S, 0.15));
	/* no rate is claimed at which it would have been found */
	CHECK(answer.claimed >= RISE / SCENE_S);
	answer_close(&answer);
	profile_close(&profile);
}

/* Without the allocators' count the memory of the process tells. */
UNIT_TEST(a_process_that_has_grown_for_a_while_is_undecided)
{
	struct profile profile = open_burst();

	for (uint32_t s = 0; s <= (uint32_t)SCENE_S; s++)
		profile_add_moment(&profile.meta,
				   &(struct profile_moment){
					   .time_ns = (uint64_t)(s * SCENE_NS_PER_S) + 1,
					   .anonymous = 50 * MIB + (uint64_t)(RISE * ramp_at(s))});
	struct answer answer = scene_only_row(&profile, TREND_TOO_FEW);
	CHECK(!answer.use.is_known && scene_is_near(answer.risen, RISE, 0.01));
	answer_close(&answer);
	/* unless it is known that no more is in use: it has touched what it had */
	add_looks(&profile, 50 * MIB, 0, 0);
	answer = scene_answer(&profile);
	CHECK_EQ(answer.verdict, TREND_STEADY);
	answer_close(&answer);
	profile_close(&profile);
}

static void check_steady(const struct profile *profile)
{
	struct answer answer = scene_answer(profile);

	CHECK_EQ(answer.verdict, TREND_STEADY);
	CHECK_EQ(answer.row_count, 0);
	CHECK(answer.risen == 0);
	answer_close(&answer);
}

UNIT_TEST(what_rises_by_little_is_steady)
{
	struct profile profile = open_burst();

	add_looks(&profile, 50 * MIB, 1000 * KIB, 0);
	check_steady(&profile);
	add_looks(&profile, 300 * MIB, RISE, 0); /* less than 2 % */
	check_steady(&profile);
	profile_close(&profile);
}

/* What is filled and emptied ends anywhere on that way. */
UNIT_TEST(what_rises_and_falls_is_steady)
{
	struct profile profile = open_burst();

	add_looks(&profile, 50 * MIB, RISE, 0.6 * RISE);
	check_steady(&profile);
	profile_close(&profile);
}

/* A cache that filled up, and of which each block was replaced since, leaks none of them. */
UNIT_TEST(a_full_cache_is_steady)
{
	struct profile profile = scene_open();

	scene_blocks(&profile, "main;serve;fill_cache;malloc", 4 * SIZE, 400, 6);
	add_looks(&profile, 50 * MIB, RISE, 0);
	check_steady(&profile);
	profile_close(&profile);
}

/* What is allocated by other means is not theirs. */
UNIT_TEST(what_samples_do_not_hold_is_not_blamed_on_them)
{
	struct profile profile = open_burst();

	add_looks(&profile, 50 * MIB, 4 * RISE, 0);
	check_steady(&profile);
	profile_close(&profile);
}

UNIT_MAIN()
