/* SPDX-License-Identifier: MIT */
/*
 * slope_test.c - slopes that are there are found, and their intervals hold them; those that are not
 * are seldom seen. FALSE_ALARMS=1 prints the shares.
 */
#include "unit.h"

#include <math.h>

#include "hi_slope.h"

#define POINTS_MAX 100u
#define RUNS 2000u

static uint64_t random_state;

static double random_unit(void)
{
	uint64_t value = random_state += 0x9e3779b97f4a7c15ull;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return ((double)((value ^ (value >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_unit())) * cos(2 * M_PI * random_unit());
}

UNIT_TEST(a_line_is_a_line)
{
	const double time[] = {0, 1, 2, 4, 5, 9, 10}, value[] = {3, 5, 7, 11, 13, 21, 23};
	struct slope slope;

	CHECK_EQ(slope_of(time, value, 7, &slope), 0);
	CHECK(fabs(slope.value - 2) < 1e-9 && fabs(slope.low - 2) < 1e-9 &&
	      fabs(slope.high - 2) < 1e-9);
	CHECK(slope.is_sure && fabs(slope.level - 3) < 1e-9);
	CHECK(fabs(slope_of_line(time, value, 7) - 2) < 1e-9);
	CHECK_EQ(slope_of(time, value, 5, &slope), 0);
	CHECK(!slope.is_sure && isinf(slope.low) && isinf(slope.high) && slope.chance == 1);
}

/* 21 rising pairs of 7 points: 20 / sqrt(7 * 6 * 19 / 18) = 3.0038 standard deviations. */
UNIT_TEST(the_chance_of_an_order_is_that_of_kendall)
{
	const double time[] = {0, 1, 2, 3, 4, 5, 6}, rising[] = {0, 1, 2, 3, 4, 5, 6},
		     falling[] = {6, 5, 4, 3, 2, 1, 0}, neither[] = {1, 3, 1, 3, 1, 3, 1};
	struct slope slope;

	CHECK_EQ(slope_of(time, rising, 7, &slope), 0);
	CHECK(fabs(slope.chance - 0.002667) < 1e-5);
	CHECK_EQ(slope_of(time, falling, 7, &slope), 0);
	CHECK(fabs(slope.chance - 0.002667) < 1e-5);
	CHECK_EQ(slope_of(time, neither, 7, &slope), 0);
	CHECK(slope.chance == 1);
}

UNIT_TEST(what_does_not_change_has_no_slope)
{
	const double time[] = {0, 1, 2, 3, 4, 5, 6}, value[] = {3, 3, 3, 3, 3, 3, 3};
	struct slope slope;

	CHECK_EQ(slope_of(time, value, 7, &slope), 0);
	CHECK(slope.value == 0 && slope.level == 3 && !slope.is_sure);
}

/*
 * Shares of runs in which the slope is called sure, and in which the interval holds it. Neighbours
 * depend on each other by `memory`.
 */
static void try(size_t points, double slope_there, double memory, double *out_sure,
		double *out_held)
{
	double time[POINTS_MAX], value[POINTS_MAX], sure = 0, held = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		double noise = random_normal() / sqrt(1 - memory * memory);
		struct slope slope;

		for (size_t i = 0; i < points; i++) {
			time[i] = (double)i;
			value[i] = 100 + slope_there * time[i] + noise;
			noise = memory * noise + random_normal();
		}
		CHECK_EQ(slope_of(time, value, points, &slope), 0);
		sure += slope.is_sure;
		held += slope.low <= slope_there && slope_there <= slope.high;
	}
	*out_sure = sure / RUNS;
	*out_held = held / RUNS;
	if (getenv("FALSE_ALARMS"))
		printf("%zu points, slope %.1f, memory %.1f: %.2f %% sure, interval holds it in "
		       "%.1f %%\n",
		       points, slope_there, memory, 100 * *out_sure, 100 * *out_held);
}

UNIT_SLOW_TEST(alarms_are_as_seldom_as_is_said)
{
	double sure, held;

	for (size_t points = 6; points <= POINTS_MAX; points = points * 5 / 2) {
		try(points, 0, 0, &sure, &held);
		CHECK(sure < 0.02);
		CHECK(held > 0.92);
		try(points, 0, 0.5, &sure, &held);
		CHECK(sure < 0.1);
		try(points, 1, 0, &sure, &held);
		CHECK(held > 0.92);
		CHECK(points < 15 || sure > 0.95);
	}
}

UNIT_MAIN()
