/* SPDX-License-Identifier: MIT */
/* limit_watch: the words of the options, thresholds, pressure, and the time until the limit. */
#include "limit_watch.h"

#include <errno.h>
#include <string.h>

#include "hi_dump.h"
#include "unit.h"

#define MB 1048576ull
#define MS 1000000ull
#define SECOND (1000 * MS)
#define LIMIT (1000 * MB)

static struct limit_options options;

static void open_at(struct limit_watch *watch, const char *at)
{
	CHECK_EQ(limit_parse_at(at, &options), 0);
	limit_watch_open(watch, &options);
}

static uint32_t look(struct limit_watch *watch, uint64_t now_ns, uint64_t used_mb)
{
	return limit_watch_look(
		watch,
		&(struct limit_figures){.now_ns = now_ns, .limit = LIMIT, .used = used_mb * MB});
}

/* Grows evenly, as far as used_mb is not reached; one look each step_ns. Returns the last result.
 */
static uint64_t grow(struct limit_watch *watch, uint64_t *now_ns, uint64_t used[2],
		     uint64_t step_ns)
{
	for (uint64_t mb = used[0]; mb <= used[1]; mb++, *now_ns += step_ns)
		(void)look(watch, *now_ns, mb);
	return *now_ns;
}

UNIT_TEST(shares_are_sorted_and_once)
{
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK_EQ(limit_parse_at("90%,70%,80.5,70%", &options), 0);
	CHECK_EQ(options.count, 3);
	CHECK_EQ(options.at_ppm[0], 700000);
	CHECK_EQ(options.at_ppm[1], 805000);
	CHECK_EQ(options.at_ppm[2], 900000);
	limit_describe_at(&options, out);
	fclose(out);
	CHECK_STR(text, "70%,80.5%,90%");
	CHECK_EQ(limit_parse_at(LIMIT_AT_DEFAULT, &options), 0);
}

UNIT_TEST(what_is_no_list_of_shares)
{
	static const char *const bad[] = {"",
					  ",",
					  "70%,",
					  "70%,,80%",
					  "0%",
					  "51M",
					  "70%80%",
					  "70%;80%",
					  "-1%",
					  "70 %",
					  "7777777777777777777777777777777"};

	options.count = 77;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(limit_parse_at(bad[i], &options), -EINVAL);
	CHECK_EQ(limit_parse_at("70%,101%", &options), -ERANGE);
	CHECK_EQ(limit_parse_at("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", &options), -E2BIG);
	CHECK_EQ(options.count, 77);
	CHECK_EQ(limit_parse_at("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", &options), 0);
}

UNIT_TEST(each_share_is_due_once)
{
	struct limit_watch watch;

	open_at(&watch, "70%,80%,90%");
	CHECK_EQ(look(&watch, 1 * SECOND, 699), 0);
	CHECK_EQ(limit_watch_next(&watch), 700 * MB);
	CHECK_EQ(look(&watch, 2 * SECOND, 700), HI_DUMP_LIMIT);
	CHECK_EQ(look(&watch, 3 * SECOND, 790), 0);
	CHECK_EQ(limit_watch_next(&watch), 800 * MB);
	CHECK_EQ(look(&watch, 4 * SECOND, 950), HI_DUMP_LIMIT); /* two at once are one */
	CHECK_EQ(look(&watch, 5 * SECOND, 1000), 0);
	CHECK_EQ(limit_watch_next(&watch), UINT64_MAX);
	CHECK(limit_watch_percent(&watch) == 100);
}

UNIT_TEST(a_share_counts_again_once_memory_was_well_below)
{
	struct limit_watch watch;

	open_at(&watch, "70%,80%");
	CHECK_EQ(look(&watch, 1 * SECOND, 810), HI_DUMP_LIMIT);
	CHECK_EQ(look(&watch, 2 * SECOND, 760), 0);
	CHECK_EQ(look(&watch, 3 * SECOND, 810), 0); /* not far enough */
	CHECK_EQ(look(&watch, 4 * SECOND, 740), 0);
	CHECK_EQ(look(&watch, 5 * SECOND, 810), HI_DUMP_LIMIT);
	CHECK_EQ(look(&watch, 6 * SECOND, 100), 0);
	CHECK_EQ(look(&watch, 7 * SECOND, 710), HI_DUMP_LIMIT);
}

UNIT_TEST(nothing_is_due_where_no_limit_is_known)
{
	struct limit_watch watch;
	uint64_t ns;
	double slope;

	open_at(&watch, "70%");
	CHECK_EQ(limit_watch_look(&watch, &(struct limit_figures){.now_ns = 1, .used = 5}), 0);
	CHECK(!limit_watch_forecast(&watch, &ns, &slope));
	CHECK(limit_watch_percent(&watch) == 0);
}

UNIT_TEST(slopes_are_those_of_the_points)
{
	struct limit_history history = {.period_ns = SECOND};

	for (uint64_t i = 0; i < 3; i++)
		limit_history_add(&history, i * SECOND, 100 * MB + i * 2 * MB);
	CHECK(limit_history_slope(&history) == 0); /* too few */
	limit_history_add(&history, 2 * SECOND + 1, 0);
	CHECK_EQ(history.count, 3); /* not due yet */
	for (uint64_t i = 3; i < 200; i++)
		limit_history_add(&history, i * SECOND, 100 * MB + i * 2 * MB);
	CHECK_EQ(history.count, LIMIT_POINTS);
	CHECK_EQ(history.point[LIMIT_POINTS - 1].ns, 199 * SECOND);
	const double slope = limit_history_slope(&history);
	CHECK(slope > 1.999 * MB && slope < 2.001 * MB);
	for (uint64_t i = 200; i < 400; i++)
		limit_history_add(&history, i * SECOND, 1000 * MB - i * MB);
	CHECK(limit_history_slope(&history) < -0.99 * MB);
}

UNIT_TEST(the_limit_is_reached_as_memory_grows_now)
{
	struct limit_watch watch;
	uint64_t now_ns = SECOND, ns = 0;
	double slope = 0;

	open_at(&watch, "70%");
	grow(&watch, &now_ns, (uint64_t[]){100, 160}, SECOND);
	CHECK(limit_watch_forecast(&watch, &ns, &slope));
	CHECK(slope > 0.99 * MB && slope < 1.01 * MB);
	CHECK(ns > 830 * SECOND && ns < 850 * SECOND); /* 840 MB at 1 MB/s */
	CHECK(!limit_watch_is_near(&watch));
	/* suddenly 100 MB/s: what is imminent counts more than the minute before */
	grow(&watch, &now_ns, (uint64_t[]){161, 900}, 10 * MS);
	CHECK(limit_watch_forecast(&watch, &ns, &slope));
	CHECK(slope > 99 * MB && slope < 101 * MB);
	CHECK(ns > 900 * MS && ns < 1100 * MS);
	CHECK(limit_watch_is_near(&watch));
	/* and then it falls */
	for (uint64_t i = 0; i < 100; i++, now_ns += SECOND)
		(void)look(&watch, now_ns, 900 - i);
	CHECK(!limit_watch_forecast(&watch, &ns, &slope));
}

UNIT_TEST(a_profile_that_would_be_in_the_way_of_the_next_is_put_off)
{
	struct limit_watch watch;
	uint64_t now_ns = SECOND;

	/* 1 MB each 1 ms: from one share to the next in 100 ms */
	open_at(&watch, "50%,60%,70%,90%");
	grow(&watch, &now_ns, (uint64_t[]){100, 499}, MS);
	CHECK_EQ(look(&watch, now_ns, 500), HI_DUMP_LIMIT); /* the first is always written */
	watch.write_ns = 150 * MS;
	now_ns += MS;
	grow(&watch, &now_ns, (uint64_t[]){501, 599}, MS);
	CHECK_EQ(look(&watch, now_ns, 600), 0); /* 70% comes before it would be written */
	now_ns += MS;
	grow(&watch, &now_ns, (uint64_t[]){601, 699}, MS);
	CHECK_EQ(look(&watch, now_ns, 700), HI_DUMP_LIMIT); /* 90% is 200 ms away */
	/* what was put off is written when memory grows no more */
	open_at(&watch, "50%,60%,70%,90%");
	watch.write_ns = 150 * MS;
	now_ns = SECOND;
	grow(&watch, &now_ns, (uint64_t[]){100, 499}, MS);
	CHECK_EQ(look(&watch, now_ns, 500), 0);
	uint32_t due = 0;
	for (int i = 0; i < 200 && !due; i++)
		due = look(&watch, now_ns += 10 * MS, 510);
	CHECK_EQ(due, HI_DUMP_LIMIT);
	CHECK_EQ(look(&watch, now_ns + 10 * MS, 510), 0);
}

UNIT_TEST(pressure_is_due_when_it_begins)
{
	struct limit_watch watch;
	struct limit_figures figures = {
		.now_ns = SECOND, .limit = LIMIT, .used = 600 * MB, .stalls = 7};

	open_at(&watch, "70%");
	CHECK_EQ(limit_watch_look(&watch, &figures), 0); /* those of before do not count */
	figures.stalls = 8;
	CHECK_EQ(limit_watch_look(&watch, &figures), HI_DUMP_PRESSURE);
	for (int i = 0; i < 50; i++) {
		figures.now_ns += 2 * SECOND;
		figures.stalls++;
		CHECK_EQ(limit_watch_look(&watch, &figures), 0); /* it goes on */
	}
	figures.now_ns += 61 * SECOND;
	CHECK_EQ(limit_watch_look(&watch, &figures), 0);
	figures.is_pressed = true;
	CHECK_EQ(limit_watch_look(&watch, &figures), HI_DUMP_PRESSURE);
	/* far from the limit the kernel only drops pages of files */
	open_at(&watch, "70%");
	figures.used = 499 * MB;
	CHECK_EQ(limit_watch_look(&watch, &figures), 0);
}

UNIT_TEST(forecasts_are_news_once)
{
	struct limit_watch watch;
	uint64_t now_ns = SECOND;
	unsigned news = 0;

	open_at(&watch, "90%");
	for (uint64_t mb = 0; mb < 8; mb++, now_ns += 10 * MS) { /* a program that starts */
		(void)look(&watch, now_ns, 10 * mb);
		CHECK(!limit_watch_is_news(&watch));
	}
	open_at(&watch, "90%");
	for (uint64_t mb = 100; mb < 1000; mb++, now_ns += SECOND) { /* below an hour at once */
		(void)look(&watch, now_ns, mb);
		news += limit_watch_is_news(&watch);
	}
	CHECK_EQ(news, 3);
}

UNIT_MAIN()
