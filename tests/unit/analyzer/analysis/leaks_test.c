/* SPDX-License-Identifier: MIT */
/* leaks_test.c - stacks that grow, those that only replace older blocks, and the sums of both. */
#include "leaks.h"

#include "answer_scene.h"
#include "unit.h"

#define SIZE 16384u
#define COUNT 100u

struct opened {
	struct stack_text text;
	struct leaks leaks;
};

static struct opened open_leaks(const struct profile *profile)
{
	struct opened opened;

	CHECK_EQ(stack_text_open(profile, &opened.text), 0);
	CHECK_EQ(leaks_open(&opened.text, &(struct leaks_tail){.share = 0.1}, &opened.leaks), 0);
	return opened;
}

static void close_leaks(struct opened *opened)
{
	leaks_close(&opened->leaks);
	stack_text_close(&opened->text);
}

UNIT_TEST(what_replaces_older_blocks_is_not_added_up)
{
	struct profile profile = scene_open();

	scene_leak(&profile, "main;fill_cache;malloc", SIZE, COUNT);
	scene_process(&profile, SIZE * COUNT);
	struct opened opened = open_leaks(&profile);

	CHECK_EQ(opened.leaks.count, 1);
	CHECK_EQ(opened.leaks.leak[0].trend.verdict, TREND_GROWS);
	CHECK_EQ(opened.leaks.growing_count, 1);
	CHECK_EQ(opened.leaks.undecided_count, 0);
	CHECK(opened.leaks.growing_bytes.value == opened.leaks.bytes.value);
	close_leaks(&opened);
	/* all frees were seen, and as many of that size */
	scene_old_freed(&profile, SIZE, COUNT);
	opened = open_leaks(&profile);
	CHECK_EQ(opened.leaks.leak[0].trend.verdict, TREND_REPLACES);
	CHECK_EQ(opened.leaks.growing_count, 0);
	CHECK(opened.leaks.growing_bytes.value == 0);
	close_leaks(&opened);
	profile_close(&profile);
}

/* A sum of 0 is not all there is to say. */
UNIT_TEST(what_is_not_decided_is_counted)
{
	struct profile profile = scene_open();

	scene_leak(&profile, "main;keep;malloc", SIZE, 2);
	scene_blocks(&profile, "main;churn;malloc", SIZE, COUNT, 1);
	struct opened opened = open_leaks(&profile);

	CHECK_EQ(opened.leaks.growing_count, 0);
	CHECK_EQ(opened.leaks.undecided_count, 1);
	CHECK(opened.leaks.undecided_bytes.value == 2 * SIZE);
	close_leaks(&opened);
	profile_close(&profile);
}

UNIT_MAIN()
