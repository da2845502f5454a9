/* SPDX-License-Identifier: MIT */
/*
 * answer_keeper_test.c - functions that allocate for several callers, of which one keeps what it
 * gets.
 */
#include "unit.h"

#include "answer_scene.h"

#define SIZE 16384u
#define COUNT 100u

static const char keeper_stack[] = "main;keep_entry;dup_value;malloc",
		  other_stack[] = "main;set_value;dup_value;malloc";

static const char *through(const struct answer *answer)
{
	const struct functions *functions = &answer->frames.functions;

	return answer->row[0].through == NO_CALL
		       ? ""
		       : functions->name[functions->call[answer->row[0].through].function];
}

UNIT_TEST(the_caller_that_keeps_is_named)
{
	struct profile profile = scene_open();

	scene_leak(&profile, keeper_stack, SIZE, COUNT);
	scene_blocks(&profile, other_stack, SIZE, 5 * COUNT, 2);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_EQ(answer.row_count, 1);
	CHECK_STR(scene_function(&answer, 0), "keep_entry");
	CHECK_STR(through(&answer), "dup_value");
	CHECK(!answer.row[0].is_caller);
	answer_close(&answer);
	profile_close(&profile);
}

/* Where others hardly allocate, the function itself is as good. */
UNIT_TEST(the_main_caller_is_not_named_instead_of_the_function)
{
	struct profile profile = scene_open();

	scene_leak(&profile, keeper_stack, SIZE, COUNT);
	scene_blocks(&profile, other_stack, SIZE, COUNT / 2, 2);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "dup_value");
	CHECK_STR(through(&answer), "");
	answer_close(&answer);
	profile_close(&profile);
}

/* Two callers that leak, and a third that frees. */
UNIT_TEST(where_several_callers_keep_none_is_named)
{
	struct profile profile = scene_open();

	scene_leak(&profile, keeper_stack, SIZE, COUNT);
	scene_leak(&profile, "main;keep_name;dup_value;malloc", SIZE, COUNT);
	scene_blocks(&profile, other_stack, SIZE, 8 * COUNT, 2);
	struct answer answer = scene_answer(&profile);

	CHECK_EQ(answer.verdict, TREND_GROWS);
	CHECK_STR(scene_function(&answer, 0), "dup_value");
	CHECK_STR(through(&answer), "");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_TEST(a_function_that_calls_itself_is_not_its_own_caller)
{
	struct profile profile = scene_open();

	scene_leak(&profile, "main;keep_entry;dup_value;dup_value;malloc", SIZE, COUNT);
	scene_blocks(&profile, "main;set_value;dup_value;dup_value;malloc", SIZE, 5 * COUNT, 2);
	struct answer answer = scene_answer(&profile);

	CHECK_STR(scene_function(&answer, 0), "keep_entry");
	answer_close(&answer);
	profile_close(&profile);
}

UNIT_MAIN()
