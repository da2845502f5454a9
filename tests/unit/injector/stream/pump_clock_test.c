/* SPDX-License-Identifier: MIT */
/* pump_clock_test.c - cycles become nanoseconds, whatever the two clocks do. */
#include "pumped.h"

#include <math.h>

#include "clock.h"

UNIT_TEST(cycles_become_nanoseconds_since_the_start)
{
	prepare();
	pump.opened = pump.set = (struct arch_moment){.cycles = 1000, .ns = 5};
	pump.cycles_per_second = 2000000000;
	pump.ns_per_cycle = 1ull << 31;
	struct hi_record_free record = {.address = 1};
	const struct {
		uint64_t cycles, ns;
	} times[] = {
		/* 73 years */
		{1000, 0},
		{1001, 0},
		{1002, 1},
		{1000 + 6000000000, 3000000000},
		{999, 0},
		{0, 0},
		{1000 + (1ull << 62), (1ull << 62) / 2},
	};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		put_header(&record.header, sizeof(record), HI_RECORD_FREE);
		record.header.cycles = times[i].cycles;
		put(&record, sizeof(record));
	}
	round_once();
	CHECK_EQ(expect(HI_STREAM_THREAD)->thread.time_ns, 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		CHECK_EQ(expect(HI_STREAM_FREE)->free.time_ns, times[i].ns);
	finish();
}

/*
 * How long a second of the clock is by the pump's, once it was compared. Both ends are as wide as
 * we were interrupted, and that is how sure the answer is.
 */
static double seconds_a_second(double *out_doubt)
{
	uint64_t ours[2], clock[2], width[2];

	for (int end = 0; end < 2; end++) {
		width[end] = UINT64_MAX;
		for (int attempt = 0; attempt < 50; attempt++) {
			const uint64_t before = clock_now_ns(), between = pump_now_ns(&pump),
				       after = clock_now_ns();
			if (after - before < width[end]) {
				width[end] = after - before;
				ours[end] = between;
				clock[end] = before + (after - before) / 2;
			}
		}
		if (end == 0)
			usleep(250000);
	}
	*out_doubt = (double)(width[0] + width[1]) / (double)(clock[1] - clock[0]);
	return (double)(ours[1] - ours[0]) / (double)(clock[1] - clock[0]);
}

UNIT_TEST(a_wrong_rate_does_not_last)
{
	const struct hi_stream_stats stats = {0};
	double doubt;

	prepare();
	pump.ns_per_cycle += pump.ns_per_cycle / 2000;
	CHECK(fabs(seconds_a_second(&doubt) - 1.0005) < doubt + 2e-5);
	CHECK_EQ(pump_stats(&pump, &stats), 0);
	CHECK(fabs(seconds_a_second(&doubt) - 1) < doubt + 2e-5);
	/* What the wrong rate made of the time up to then is made good, too. */
	const uint64_t before = clock_now_ns(), now = pump_now_ns(&pump), after = clock_now_ns();
	CHECK(now + pump.opened.ns >= before - 20000 && now + pump.opened.ns <= after + 20000);
	finish();
}

/* Suspend: the clock stood still, the counter did not, or began at nothing. */
UNIT_TEST(a_counter_that_ran_on_without_the_clock_changes_no_rate)
{
	const struct hi_stream_stats stats = {0};

	prepare();
	const uint64_t rate = pump.ns_per_cycle;
	for (int i = 0; i < 2; i++) {
		pump.set.ns -= 200000000;
		pump.opened.ns -= 200000000;
		pump.set.cycles += i ? 1ull << 50 : -(1ull << 50);
		CHECK_EQ(pump_stats(&pump, &stats), 0);
		CHECK_EQ(pump.ns_per_cycle, rate);
		const uint64_t before = clock_now_ns(), now = pump_now_ns(&pump),
			       after = clock_now_ns();
		CHECK(now + pump.opened.ns >= before - 20000 &&
		      now + pump.opened.ns <= after + 20000);
	}
	finish();
}

/* One clock for all: what is counted while we are attached lies between the start and now. */
UNIT_TEST(the_clock_is_the_cycle_counter)
{
	prepare();
	const uint64_t clock_before = clock_now_ns(), before = pump_now_ns(&pump);
	usleep(20000);
	const uint64_t after = pump_now_ns(&pump), clock_after = clock_now_ns();
	CHECK(after - before >= 19000000);
	CHECK(after - before < 100 * (clock_after - clock_before));
	finish();
}

UNIT_MAIN()
