/* SPDX-License-Identifier: MIT */
/* series_test.c - what stacks held in each of several snapshots, and how sure that is. */
#include "unit.h"

#include <math.h>

#include "sample_profile.h"
#include "series.h"

/* Adds a snapshot with so many blocks of 100 bytes in each of two stacks. */
static struct estimate add(struct series *series, uint64_t seconds, uint64_t interval,
			   uint64_t first, uint64_t second)
{
	struct profile profile = sample_open();
	struct estimate sum;

	profile.meta.interval = interval;
	profile.meta.duration_ns = seconds * 1000000000u;
	profile.meta.peak_inuse_bytes = 1000 * seconds;
	if (second)
		/* in another order, so that numbers of stacks say nothing */
		sample_stack(&profile, "main;second", second, 100);
	if (first)
		sample_stack(&profile, "main;first", first, 100);
	CHECK_EQ(series_add(series, &profile, INUSE_SPACE), 0);
	sum = estimate_total(&profile, INUSE_SPACE);
	profile_close(&profile);
	return sum;
}

UNIT_TEST(stacks_are_found_again)
{
	struct series series = {0};
	double time[3];

	add(&series, 10, 1, 3, 0);
	add(&series, 12, 1, 0, 5);
	add(&series, 20, 1, 4, 6);
	CHECK_EQ(series.stack_count, 2);
	CHECK(strncmp(series.stack[0].line, "first ", 6) == 0);
	static const double first[] = {300, 0, 400}, second[] = {0, 500, 600};
	for (size_t i = 0; i < 3; i++) {
		CHECK(series_value(&series.stack[0], i) == first[i]);
		CHECK(series_value(&series.stack[1], i) == second[i]);
		CHECK(series_variance(&series.stack[0], i) == 0);
		CHECK(series.snapshot[i].total.value == first[i] + second[i]);
	}
	CHECK(series_value(&series.stack[0], 3) == 0);
	CHECK(series_times(&series, time));
	CHECK(time[0] == 0 && time[1] == 2 && time[2] == 10);
	CHECK_STR(series.comm, "server");
	CHECK_EQ(series.peak_bytes, 20000);
	series_close(&series);
}

UNIT_TEST(how_sure_a_value_is)
{
	struct series series = {.keeps_variance = true}, careless = {0};
	const struct estimate late = estimate_row(5, 500, 1000, INUSE_SPACE);

	for (uint64_t i = 0; i < 6; i++) {
		const struct estimate total = add(&series, i, 1000, 7, i == 5 ? 5 : 0);

		add(&careless, i, 1000, 7, 0);
		CHECK(fabs(series.snapshot[i].total.variance / total.variance - 1) < 1e-9);
		CHECK(fabs(series_variance(&series.stack[0], i) /
				   estimate_row(7, 700, 1000, INUSE_SPACE).variance -
			   1) < 1e-6);
		CHECK(series_variance(&careless.stack[0], i) == 0);
	}
	CHECK_EQ(series.stack_count, 2);
	CHECK(series_variance(&series.stack[1], 4) == 0);
	CHECK(fabs(series_variance(&series.stack[1], 5) / late.variance - 1) < 1e-6);
	CHECK(fabs((double)series.stack[1].unit / late.unit - 1) < 1e-6);
	series_close(&series);
	series_close(&careless);
}

/* Beyond what a float holds to the byte, and where small ones are added to a large one. */
UNIT_TEST(large_values_to_the_byte)
{
	struct series series = {0};
	struct profile profile = sample_open();

	profile.meta.interval = 1;
	sample_stack(&profile, "main;first", 1, 80000001);
	CHECK_EQ(series_add(&series, &profile, INUSE_SPACE), 0);
	sample_stack(&profile, "main;first", 3, 1);
	CHECK_EQ(series_add(&series, &profile, INUSE_SPACE), 0);
	CHECK_EQ(series.stack_count, 1);
	CHECK(series_value(&series.stack[0], 0) == 80000001);
	CHECK(series_value(&series.stack[0], 1) == 80000004);
	profile_close(&profile);
	series_close(&series);
}

/* What hostile files hold goes beyond what is kept of it, and stays a number. */
UNIT_TEST(figures_without_measure)
{
	struct series series = {.keeps_variance = true};
	struct profile profile = sample_open();
	uint32_t row;

	profile.meta.interval = INT64_MAX;
	sample_stack(&profile, "main;first", 1, 1);
	CHECK_EQ(profile_row_at(&profile, &profile.row[0].key, &row), 0);
	profile.row[row].inuse_count = profile.row[row].alloc_count = INT64_MAX;
	profile.row[row].inuse_bytes = profile.row[row].alloc_bytes = INT64_MAX;
	CHECK_EQ(series_add(&series, &profile, INUSE_SPACE), 0);
	CHECK(isfinite(series_value(&series.stack[0], 0)) &&
	      isfinite(series_variance(&series.stack[0], 0)) && isfinite(series.stack[0].unit));
	profile_close(&profile);
	series_close(&series);
}

UNIT_MAIN()
