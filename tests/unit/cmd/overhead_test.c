/* SPDX-License-Identifier: MIT */
/*
 * overhead_test.c - the interval grows until the budget is kept, comes back when it can, and comes
 * to rest.
 */
#include "unit.h"

#include "hi_wire.h"
#include "overhead.h"

#define INTERVAL (512u << 10)
#define BUDGET_PPM 10000u /* 1 % */

#define SAMPLE_NS 2000u

struct load {
	struct overhead overhead;
	struct hi_stream_stats stats;
};

static struct load load_open(uint32_t budget_ppm, uint64_t interval)
{
	struct load load = {0};

	overhead_open(&load.overhead, budget_ppm, interval);
	return load;
}

/*
 * 250 ms of one busy CPU, of which sampling at the interval that was asked for would take
 * share_ppm.
 */
static bool busy(struct load *load, uint64_t share_ppm)
{
	const uint64_t cost = 250 * share_ppm >> load->overhead.interval_shift;

	load->stats.target_cpu_ns += 250000000;
	load->stats.payload_cpu_ns += cost;
	load->stats.samples += cost / SAMPLE_NS + 1;
	return overhead_step(&load->overhead, &load->stats);
}

UNIT_TEST(within_the_budget_nothing_changes)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);

	for (int i = 0; i < 1000; i++)
		CHECK(!busy(&load, i % 10000));
	CHECK_EQ(load.overhead.interval_shift, 0);
}

UNIT_TEST(without_a_budget_nothing_changes)
{
	struct load load = load_open(0, INTERVAL);

	for (int i = 0; i < 100; i++)
		CHECK(!busy(&load, 900000));
}

UNIT_TEST(above_it_the_interval_doubles_as_often_as_needed)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);

	CHECK(busy(&load, 70000));
	CHECK_EQ(load.overhead.interval_shift, 3); /* 7 % / 8 < 1 % */
	for (int i = 0; i < 100; i++)
		CHECK(!busy(&load, 70000));
}

UNIT_TEST(it_comes_back_one_by_one_and_never_swings)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);
	int changes = 0;

	busy(&load, 500000);
	CHECK_EQ(load.overhead.interval_shift, 6);
	for (int i = 0; i < 400; i++)
		changes += busy(&load, 30000);
	CHECK(changes >= 1 && changes <= 4); /* down, and once there no more */
	CHECK(load.overhead.interval_shift >= 2 && load.overhead.interval_shift <= 4);
	for (int i = 0; i < 400; i++)
		busy(&load, 100);
	CHECK_EQ(load.overhead.interval_shift, 0); /* never finer than asked for */
}

UNIT_TEST(little_cpu_time_says_little)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);

	load.stats = (struct hi_stream_stats){
		.target_cpu_ns = 90000000, .payload_cpu_ns = 80000000, .samples = 40000};
	CHECK(!overhead_step(&load.overhead, &load.stats));
	load.stats.target_cpu_ns += 20000000;
	CHECK(overhead_step(&load.overhead, &load.stats)); /* but it is not forgotten */
}

UNIT_TEST(figures_that_could_not_be_read_change_nothing)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);

	busy(&load, 5000);
	struct hi_stream_stats stats = load.stats;
	stats.target_cpu_ns += 1000000000;
	stats.payload_cpu_ns = 0;
	CHECK(!overhead_step(&load.overhead, &stats));
	stats = load.stats;
	stats.target_cpu_ns = 0;
	CHECK(!overhead_step(&load.overhead, &stats));
	CHECK_EQ(load.overhead.interval_shift, 0);
}

/*
 * Frees cost, too, as long as earlier samples are live. To sample ever more seldom would lose the
 * profile and gain nothing.
 */
UNIT_TEST(what_samples_do_not_cost_does_not_change_how_often_they_are_taken)
{
	struct load load = load_open(BUDGET_PPM, INTERVAL);

	for (int i = 0; i < 100; i++) {
		load.stats.target_cpu_ns += 250000000;
		load.stats.payload_cpu_ns += 100000000;
		load.stats.samples += 200 >> load.overhead.interval_shift;
		overhead_step(&load.overhead, &load.stats);
	}
	CHECK_EQ(load.overhead.interval_shift, 0);
}

UNIT_TEST(no_interval_overflows)
{
	static const uint64_t intervals[] = {1,          INTERVAL,   1ull << 46,
					     1ull << 47, 1ull << 60, UINT64_MAX};

	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		struct load load = load_open(1, intervals[i]);

		for (int k = 0; k < 100; k++) {
			load.stats.target_cpu_ns += 1000000000;
			load.stats.payload_cpu_ns += 1000000000;
			load.stats.samples += 1000000;
			overhead_step(&load.overhead, &load.stats);
		}
		CHECK(load.overhead.interval_shift <= HI_INTERVAL_SHIFT_MAX);
		CHECK_EQ(intervals[i] << load.overhead.interval_shift >>
				 load.overhead.interval_shift,
			 intervals[i]);
	}
}

UNIT_MAIN()
