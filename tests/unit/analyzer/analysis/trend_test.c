/* SPDX-License-Identifier: MIT */
/*
 * trend_test.c - simulated programs, healthy and leaking: how often the one is said to grow and the
 * other not.
 *
 * The tables of docs/sampling.md: FALSE_ALARMS=1 in the environment prints them.
 */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "trend.h"

#define WINDOW_NS 10e9
#define TAIL 0.1
#define EVENTS_MAX 200000u

/* splitmix64: fixed seeds give the same programs on every machine. */
static uint64_t random_state;

static double random_unit(void)
{
	uint64_t value = random_state += 0x9e3779b97f4a7c15ull;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return ((double)((value ^ (value >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double random_between(double low, double high)
{
	return low + (high - low) * random_unit();
}

static double random_exponential(double mean)
{
	return -mean * log(random_unit());
}

/* Times are in windows: 0 to 1. */
static struct history history;
static double allocated;

static void block(double born, double died)
{
	uint32_t slice;

	if (born < 0 || born >= 1)
		return; /* before the window nobody looks */
	allocated++;
	if (died < 1) {
		slice = history_slice(&history, (uint64_t)(died * WINDOW_NS));
		history.gone[slice]++;
	}
	slice = history_slice(&history, (uint64_t)(born * WINDOW_NS));
	history.alloc[slice]++;
	history.live[slice] += died >= 1;
}

static struct trend trend_at(double level)
{
	struct trend_slices slices = {.width_ns = (double)(1ull << history.shift),
				      .window_ns = WINDOW_NS,
				      .tail_ns = TAIL * WINDOW_NS};

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		slices.live[i] = slices.live_square[i] = history.live[i];
		slices.change[i] = (double)history.alloc[i] - (double)history.gone[i];
		slices.change_variance[i] = slices.change[i]; /* sampled seldom */
		slices.alloc[i] = history.alloc[i];
	}
	/* The worst case: nothing else is allocated. */
	trend_set_clock(&slices, slices.alloc);
	return trend_of(&slices, level);
}

/* ---- healthy programs, each with about n blocks in use --------------------------------------- */

static void churn(double n)
{
	const double life = exp(random_between(log(0.01), log(0.25)));

	for (double t = -2; t < 1; t += random_exponential(life / n))
		block(t, t + random_exponential(life));
}

static void queue(double n)
{
	const double life = random_between(0.02, 0.6);

	for (double t = -1; t < 1; t += random_exponential(life / n))
		block(t, t + life);
}

/* Empty at first; once it is full each new entry takes the place of one of the others. */
static void cache(double n)
{
	static double born[EVENTS_MAX];
	const double filled = random_between(0.05, 0.6);
	const size_t room = (size_t)n;
	size_t count = 0;

	for (double t = 0; t < 1; t += random_exponential(filled / n)) {
		const size_t at = count < room ? count++ : (size_t)(random_unit() * (double)room);

		if (count == room && born[at] > 0)
			block(born[at], t);
		born[at] = t;
	}
	for (size_t i = 0; i < room; i++) {
		if (i < count && born[i] > 0)
			block(born[i], 2);
		born[i] = 0;
	}
}

static void sawtooth(double n)
{
	const double period = random_between(0.05, 0.45), phase = random_unit() * period,
		     base = random_between(0, 0.5) * n;

	for (double t = 0; t < 1; t += random_exponential(period / n))
		block(t, (floor((t + phase) / period) + 1) * period - phase);
	for (double i = 0; i < base; i++)
		block(random_unit() * 0.05, 2);
}

static void warm_up(double n)
{
	const double time = random_between(0.03, 0.2);

	for (double i = 0; i < n; i++)
		block(random_exponential(time), 2);
}

/* Fills and empties as it happens to, never above its bound; first in, first out. */
static void waiting_line(double n)
{
	static double born[EVENTS_MAX];
	size_t head = 0, tail = 0;

	for (double t = -1; t < 1 && head < EVENTS_MAX; t += random_exponential(0.02 / n)) {
		const bool comes = random_unit() < 0.5;

		if (comes && (double)(head - tail) < 2 * n)
			born[head++] = t;
		else if (!comes && head > tail)
			block(born[tail++], t);
	}
	while (tail < head)
		block(born[tail++], 2);
}

static void bursts(double n)
{
	const double life = random_between(0.02, 0.15), size = fmin(20, n / 3);

	for (double t = -1; t < 1; t += random_exponential(life / n * size)) {
		const double died = t + random_exponential(life);

		for (double left = random_exponential(size); left > 0; left--)
			block(t, died);
	}
}

static void tides(double n)
{
	const double life = random_between(0.01, 0.1), period = random_between(0.1, 2),
		     phase = random_unit();

	for (double t = -1; t < 1; t += random_exponential(life / n / 2)) {
		if (random_unit() < 0.5 + 0.5 * sin(2 * M_PI * (t / period + phase)))
			block(t, t + random_exponential(life));
	}
}

static void two_kinds(double n)
{
	for (double t = -2; t < 1; t += random_exponential(0.02 / n))
		block(t, t + random_exponential(random_unit() < 0.05 ? 0.2 : 0.01));
}

/* ---- leaking ones, n blocks of which stay ---------------------------------------------------- */

static void leak(double n)
{
	for (double i = 0; i < n; i++)
		block(random_unit(), 2);
}

/* Of those that are allocated at the same place most are freed. */
static void leak_under_churn(double n)
{
	const double share = random_between(0.05, 0.3), life = random_between(0.005, 0.05);

	for (double t = 0; t < 1; t += random_exponential(share / n))
		block(t, random_unit() < share ? 2 : t + random_exponential(life));
}

static void leak_in_bursts(double n)
{
	for (double t = 0; t < 1; t += random_exponential(4 / n)) {
		for (double left = random_exponential(4); left > 0; left--)
			block(t, 2);
	}
}

static void leak_beside_a_cache(double n)
{
	leak(n);
	cache(n / 2);
}

struct program {
	const char *name;
	void (*run)(double n);
};

struct shares {
	double grows, probably, steady;
};

static struct shares count(const struct program *program, double n)
{
	const unsigned runs = getenv("FALSE_ALARMS") ? 300 : 100;
	double grows = 0, probably = 0, steady = 0;

	for (unsigned run = 0; run < runs; run++) {
		history_open(&history);
		allocated = 0;
		program->run(n);
		const struct trend trend = trend_at(TREND_LEVEL);
		grows += trend.verdict == TREND_GROWS;
		probably += trend.verdict == TREND_PROBABLY;
		steady += trend.verdict == TREND_STEADY;
	}
	return (struct shares){grows / runs, probably / runs, steady / runs};
}

static const double sizes[] = {10, 30, 100, 300, 1000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void print_row(const struct program *program, const struct shares *shares)
{
	printf("| %-20s |", program->name);
	for (size_t i = 0; i < SIZES; i++)
		printf(" %.1f, %.1f, %.0f |", 100 * shares[i].grows, 100 * shares[i].probably,
		       100 * shares[i].steady);
	printf("\n");
}

UNIT_SLOW_TEST(healthy_programs_do_not_grow)
{
	static const struct program programs[] = {
		{"churn", churn},       {"queue", queue},     {"cache", cache},
		{"sawtooth", sawtooth}, {"warm-up", warm_up}, {"waiting line", waiting_line},
		{"bursts", bursts},     {"tides", tides},     {"two kinds", two_kinds},
	};
	double alarms = 0, maybe = 0, all = 0;

	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		struct shares shares[SIZES];

		for (size_t i = 0; i < SIZES; i++) {
			random_state = 1000 * p + i;
			shares[i] = count(&programs[p], sizes[i]);
			alarms += shares[i].grows;
			maybe += shares[i].probably;
			all++;
		}
		if (getenv("FALSE_ALARMS"))
			print_row(&programs[p], shares);
		for (size_t i = 0; i < SIZES && !getenv("FALSE_ALARMS"); i++) {
			if (shares[i].grows > 0.05)
				UNIT_FAIL("%s of %.0f blocks: %.1f %% false alarms",
					  programs[p].name, sizes[i], 100 * shares[i].grows);
		}
	}
	if (getenv("FALSE_ALARMS"))
		printf("all: %.2f %%, %.2f %% probably\n", 100 * alarms / all, 100 * maybe / all);
	else
		CHECK(alarms / all < 0.01);
}

UNIT_TEST(leaks_grow)
{
	static const struct program programs[] = {{"leak", leak},
						  {"leak under churn", leak_under_churn},
						  {"leak in bursts", leak_in_bursts},
						  {"leak beside a cache", leak_beside_a_cache}};

	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		struct shares shares[SIZES];

		for (size_t i = 0; i < SIZES; i++) {
			random_state = 1000 * p + i;
			shares[i] = count(&programs[p], sizes[i]);
		}
		if (getenv("FALSE_ALARMS"))
			print_row(&programs[p], shares);
		else
			CHECK(shares[3].grows > 0.95 && shares[4].grows > 0.95);
	}
}

/* ---- single programs, without chance --------------------------------------------------------- */

/* n blocks that come evenly between two times; each is freed after life. */
static void blocks(double n, double from, double to, double life)
{
	for (double i = 0; i < n; i++) {
		const double born = from + (to - from) * (i + 0.5) / n;

		block(born, born + life);
	}
}

static bool is_near(double value, double wanted, double part)
{
	return fabs(value - wanted) <= part * fabs(wanted);
}

UNIT_TEST(what_is_given_back_shrinks)
{
	history_open(&history);
	for (double i = 0; i < 200; i++)
		block(0.1 * (i + 0.5) / 200, 0.2 + 0.8 * (i + 0.5) / 200);
	blocks(100, 0, 1, 0.01); /* it is not idle */
	const struct trend trend = trend_at(TREND_LEVEL);
	CHECK_EQ(trend.verdict, TREND_SHRINKS);
	CHECK(trend.slope_high < 0 && trend.slope_low < trend.slope);
	/* 200 blocks in 8 of the 10 s */
	CHECK(is_near(trend.slope, -25, 0.1));
}

UNIT_TEST(what_does_not_change_is_steady)
{
	history_open(&history);
	blocks(200, 0, 0.02, 2);
	blocks(400, 0, 1, 0.05);
	const struct trend trend = trend_at(TREND_LEVEL);
	CHECK_EQ(trend.verdict, TREND_STEADY);
	CHECK(trend.slope_low <= 0 && trend.slope_high >= 0);
	CHECK(trend.more_ns == 0);
}

UNIT_TEST(few_survivors_need_more_time)
{
	history_open(&history);
	blocks(6, 0, 1, 2);
	blocks(100, 0, 1, 0.01);
	const struct trend trend = trend_at(TREND_LEVEL);
	CHECK_EQ(trend.verdict, TREND_TOO_FEW);
	/* 5.4 of the 32 that mostly decide have come before the tail */
	CHECK(is_near(trend.samples, 5.4, 0.1));
	CHECK(is_near(trend.more_ns, WINDOW_NS * (32 / trend.samples - 1), 0.05));
	/* a smaller level needs more of them: 12 for each digit */
	const struct trend smaller = trend_at(TREND_LEVEL / 100);
	CHECK_EQ(smaller.verdict, TREND_TOO_FEW);
	CHECK(is_near(smaller.more_ns, WINDOW_NS * (56 / trend.samples - 1), 0.05));
	/* twice as many need less */
	blocks(6, 0, 1, 2);
	CHECK(trend_at(TREND_LEVEL / 100).more_ns < 0.6 * smaller.more_ns);
}

/* The first quarter holds twice as much as all that leaks. */
UNIT_TEST(a_leak_after_a_warm_up_grows)
{
	history_open(&history);
	blocks(200, 0, 0.05, 2);
	blocks(400, 0, 1, 0.01); /* time passes with the allocations, too */
	CHECK_EQ(trend_at(TREND_LEVEL).verdict, TREND_STEADY);
	blocks(100, 0, 1, 2);
	const struct trend trend = trend_at(TREND_LEVEL);
	CHECK_EQ(trend.verdict, TREND_GROWS);
	/* by 100 blocks in 10 s; the warm-up is over */
	CHECK(is_near(trend.slope, 10, 0.1));
}

UNIT_TEST(a_leak_that_has_ended_does_not_grow)
{
	history_open(&history);
	blocks(100, 0, 0.6, 2);
	blocks(400, 0, 1, 0.01);
	CHECK(!trend_is_growth(trend_at(TREND_LEVEL).verdict));
}

UNIT_TEST(a_smaller_level_gives_fewer_alarms)
{
	static void (*const programs[])(double) = {churn,        queue,  cache, sawtooth, warm_up,
						   waiting_line, bursts, tides, two_kinds};
	static const double levels[] = {0.05, TREND_LEVEL, 1e-5};
	unsigned alarms[3] = {0}, leaks[3] = {0};

	random_state = 7;
	for (size_t run = 0; run < 900; run++) {
		history_open(&history);
		programs[run % 9](40);
		for (size_t i = 0; i < 3; i++)
			alarms[i] += trend_is_growth(trend_at(levels[i]).verdict);
	}
	for (size_t run = 0; run < 100; run++) {
		history_open(&history);
		leak(300);
		for (size_t i = 0; i < 3; i++)
			leaks[i] += trend_at(levels[i]).verdict == TREND_GROWS;
	}
	CHECK(alarms[0] > alarms[1] && alarms[1] > alarms[2]);
	CHECK(alarms[2] * 5 < alarms[1]);
	/* and large leaks are found at each */
	CHECK(leaks[2] > 95);
}

UNIT_MAIN()
