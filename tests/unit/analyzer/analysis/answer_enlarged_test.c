/* SPDX-License-Identifier: MIT */
/* answer_enlarged_test.c - one block that becomes larger again and again, and what only looks so.
 */
#include "unit.h"

#include <math.h>

#include "answer_scene.h"

#define MIB (1024u * 1024u)

static const char stack[] = "main;append_event;grow_vector;malloc",
		  other[] = "main;serve;handle;malloc";

/* 2, 4, 8, 16 MiB: each is freed when the next has come. */
static void doubling(struct profile *profile)
{
	static const double at_s[] = {1, 3, 7, 15, SCENE_S};

	for (uint32_t i = 0; i < 4; i++)
		scene_block(profile, stack, (2u << i) * MIB, at_s[i], at_s[i + 1]);
}

static void some_traffic(struct profile *profile)
{
	scene_blocks(profile, other, 1000, 400, 0.5);
}

UNIT_TEST(a_vector_that_doubles_is_named)
{
	struct profile profile = scene_open();

	doubling(&profile);
	some_traffic(&profile);
	scene_process(&profile, 14.0 * MIB);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_PROBABLY);
	CHECK_EQ(answer.growing, 1);
	CHECK_STR(scene_function(&answer, 0), "grow_vector");
	CHECK(answer.row[0].is_enlarged);
	CHECK(fabs(answer.slope - 14.0 * MIB / SCENE_S) < 0.01 * answer.slope);
	CHECK(answer.row[0].live == 16.0 * MIB);
	answer_close(&answer);
	profile_close(&profile);
}

/* A buffer that is replaced by a larger one, beside other growth: it may be the last time. */
UNIT_TEST(one_step_is_not_enough)
{
	struct profile profile = scene_open();

	scene_block(&profile, stack, 8 * MIB, 1, 9);
	scene_block(&profile, stack, 16 * MIB, 9, SCENE_S);
	some_traffic(&profile);
	scene_process(&profile, 10.0 * MIB);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_TOO_FEW);
	CHECK(answer.row[0].is_holder);
	CHECK_STR(scene_function(&answer, 0), "grow_vector");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(a_process_that_does_not_grow_has_no_such_block)
{
	struct profile profile = scene_open();

	doubling(&profile);
	some_traffic(&profile);
	scene_process(&profile, 0);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.growing, 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* Buffers of any size, one at a time: the last is not the largest. */
UNIT_TEST(buffers_of_any_size_are_none)
{
	struct profile profile = scene_open();

	scene_block(&profile, stack, 9 * MIB, 1, 5);
	scene_block(&profile, stack, 20 * MIB, 5, 12);
	scene_block(&profile, stack, 14 * MIB, 12, SCENE_S);
	some_traffic(&profile);
	scene_process(&profile, 14.0 * MIB);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.growing, 0);
	answer_close(&answer);
	profile_close(&profile);
}

/* A block that is small beside the growth does not explain it; nor does one that is huge. */
UNIT_TEST(the_block_must_fit_the_growth)
{
	static const double grown_mib[] = {60, 0.5};

	for (size_t i = 0; i < 2; i++) {
		struct profile profile = scene_open();

		doubling(&profile);
		some_traffic(&profile);
		scene_process(&profile, grown_mib[i] * MIB);
		struct answer answer = scene_answer(&profile);

		CHECK_EQ(answer.growing, 0);
		answer_close(&answer);
		profile_close(&profile);
	}
}

/* Each has its share, by its size. */
UNIT_TEST(two_vectors_that_double_are_named)
{
	struct profile profile = scene_open();

	doubling(&profile);
	for (uint32_t i = 0; i < 3; i++)
		scene_block(&profile, "main;trace;grow_trace;malloc", (2u << i) * MIB, 2 + 6.0 * i,
			    i == 2 ? SCENE_S : 8 + 6.0 * i);
	some_traffic(&profile);
	scene_process(&profile, 21.0 * MIB);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_PROBABLY);
	CHECK_EQ(answer.growing, 2);
	CHECK_STR(scene_function(&answer, 0), "grow_vector");
	CHECK_STR(scene_function(&answer, 1), "grow_trace");
	CHECK(fabs(answer.row[0].trend.slope - 2 * answer.row[1].trend.slope) < 1);
	CHECK(fabs(answer.slope - 21.0 * MIB / SCENE_S) < 0.01 * answer.slope);
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_MAIN()
