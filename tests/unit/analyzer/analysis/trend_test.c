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

static struct trend trend_of_history(void)
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
	return trend_of(&slices);
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

static void count(const struct program *program, double n, double *out_grows, double *out_steady)
{
	const unsigned runs = getenv("FALSE_ALARMS") ? 300 : 100;
	double grows = 0, steady = 0;

	for (unsigned run = 0; run < runs; run++) {
		history_open(&history);
		allocated = 0;
		program->run(n);
		const struct trend trend = trend_of_history();
		grows += trend.verdict == TREND_GROWS;
		steady += trend.verdict == TREND_STEADY;
	}
	*out_grows = grows / runs;
	*out_steady = steady / runs;
}

static const double sizes[] = {10, 30, 100, 300, 1000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void print_row(const struct program *program, const double *grows, const double *steady)
{
	printf("| %-20s |", program->name);
	for (size_t i = 0; i < SIZES; i++)
		printf(" %5.1f, %5.1f |", 100 * grows[i], 100 * steady[i]);
	printf("\n");
}

UNIT_SLOW_TEST(healthy_programs_do_not_grow)
{
	static const struct program programs[] = {
		{"churn", churn},       {"queue", queue},     {"cache", cache},
		{"sawtooth", sawtooth}, {"warm-up", warm_up}, {"waiting line", waiting_line},
		{"bursts", bursts},     {"tides", tides},     {"two kinds", two_kinds},
	};
	double alarms = 0, all = 0;

	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		double grows[SIZES], steady[SIZES];

		for (size_t i = 0; i < SIZES; i++) {
			random_state = 1000 * p + i;
			count(&programs[p], sizes[i], &grows[i], &steady[i]);
			alarms += grows[i];
			all++;
		}
		if (getenv("FALSE_ALARMS"))
			print_row(&programs[p], grows, steady);
		for (size_t i = 0; i < SIZES && !getenv("FALSE_ALARMS"); i++) {
			if (grows[i] > 0.05)
				UNIT_FAIL("%s of %.0f blocks: %.1f %% false alarms",
					  programs[p].name, sizes[i], 100 * grows[i]);
		}
	}
	if (getenv("FALSE_ALARMS"))
		printf("all: %.2f %%\n", 100 * alarms / all);
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
		double grows[SIZES], steady[SIZES];

		for (size_t i = 0; i < SIZES; i++) {
			random_state = 1000 * p + i;
			count(&programs[p], sizes[i], &grows[i], &steady[i]);
		}
		if (getenv("FALSE_ALARMS"))
			print_row(&programs[p], grows, steady);
		else
			CHECK(grows[3] > 0.95 && grows[4] > 0.95);
	}
}

UNIT_MAIN()
