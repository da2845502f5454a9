/* SPDX-License-Identifier: MIT */
/*
 * trend.c - see trend.h. Three questions: were survivors born in all parts of the window (if not: a cache that evicts, a pool that was emptied, a warm-up)? Or
 * did what is in use itself rise in all parts (blocks that are replaced by larger ones)? And did it go on to the end? Start at trend_of().
 */
#include "trend.h"

#include <math.h>
#include <stdbool.h>

#define QUARTERS 4
#define BURST 2                 /* times the mean: what is allocated beyond that in a slice does not make it longer */
#define SAMPLES_MIN 20.0        /* below this nothing is said */
#define POOREST_SHARE 0.4       /* of the mean of the quarters, that the poorest has to have in what grows */
#define HEALTHY_SHARE (1.0 / 6) /* what a quarter of something healthy may have at most, of the same */
#define FALSE_ALARM 0.01        /* of a quarter with just that */
#define FALSE_ALARM_NORMAL 2.326348
#define NORMAL_95 1.959964
#define GOES_ON_SHARE (1.0 / 3) /* of the expected, that has to have come in the last half and in the last quarter, */
#define GOES_ON_DEVIATIONS 2.0  /* unless it is within so many standard deviations */
#define ALLOC_MIN 3.0           /* allocations in each quarter of something that is replaced by larger blocks */
#define NS_PER_S 1e9

/* The probability that a Poisson count of this mean is at least `count`, which may be broken: by Wilson and Hilferty. */
static double poisson_above(double count, double mean)
{
	if (count <= 0)
		return 1;
	if (mean <= 0)
		return 0;
	return 0.5 * erfc(-3 * sqrt(count) * (cbrt(mean / count) - 1 + 1 / (9 * count)) / M_SQRT2);
}

double trend_part_before(const struct trend_slices *slices, size_t i, double time_ns)
{
	const double from = (double)i * slices->width_ns, to = fmin(from + slices->width_ns, fmax(slices->window_ns, from + 1));

	return time_ns <= from ? 0 : time_ns >= to ? 1 : (time_ns - from) / (to - from);
}

void trend_set_clock(struct trend_slices *slices, const double *activity)
{
	double sum = 0, all = 0, most;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		sum += activity[i];
	most = BURST * sum * slices->width_ns / slices->window_ns;
	for (size_t i = 0; i < HISTORY_SLICES; i++)
		all += fmin(activity[i], most);
	slices->clock[0] = 0;
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		const double from = fmin((double)i * slices->width_ns, slices->window_ns), to = fmin((double)(i + 1) * slices->width_ns, slices->window_ns);
		const double by_clock = (to - from) / slices->window_ns;

		slices->clock[i + 1] = slices->clock[i] + (all > 0 ? (by_clock + fmin(activity[i], most) / all) / 2 : by_clock);
	}
}

/* How much of the program's time has passed by then, of 1. */
static double passed(const struct trend_slices *slices, double time_ns)
{
	double sum = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		sum += (slices->clock[i + 1] - slices->clock[i]) * trend_part_before(slices, i, time_ns);
	return sum;
}

/* When so much of it had passed. */
static double time_at(const struct trend_slices *slices, double share)
{
	size_t i = 0;

	while (i + 1 < HISTORY_SLICES && slices->clock[i + 1] < share)
		i++;
	const double width = slices->clock[i + 1] - slices->clock[i], from = (double)i * slices->width_ns;
	const double to = fmin(from + slices->width_ns, slices->window_ns);

	return fmin(slices->window_ns, from + (to - from) * (width > 0 ? fmin(1, fmax(0, (share - slices->clock[i]) / width)) : 1));
}

static double sum_between(const struct trend_slices *slices, const double *of, double from_ns, double to_ns)
{
	double sum = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		sum += of[i] * (trend_part_before(slices, i, to_ns) - trend_part_before(slices, i, from_ns));
	return sum;
}

/* The weight of a typical survivor: what one sample more would be. */
static double grain(const struct trend_slices *slices)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		sum += slices->live[i];
		squares += slices->live_square[i];
	}
	return sum > 0 ? squares / sum : 0;
}

/* Was a fair part of the survivors born in each quarter before the tail? */
static bool has_survivors_of_all_times(const struct trend_slices *slices, bool *out_too_few)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns, all = passed(slices, before_tail_ns), each = grain(slices);
	double mean, poorest = INFINITY;

	*out_too_few = false;
	if (each <= 0)
		return false;
	for (int k = 0; k < QUARTERS; k++) {
		const double from_ns = time_at(slices, all * k / QUARTERS), to_ns = fmin(before_tail_ns, time_at(slices, all * (k + 1) / QUARTERS));

		poorest = fmin(poorest, sum_between(slices, slices->live, from_ns, to_ns) / each);
	}
	mean = sum_between(slices, slices->live, 0, before_tail_ns) / each / QUARTERS;
	if (mean <= 0 || poorest < POOREST_SHARE * mean)
		return false;
	*out_too_few =
		before_tail_ns < QUARTERS * slices->width_ns || mean * QUARTERS < SAMPLES_MIN || poisson_above(poorest, HEALTHY_SHARE * mean) > FALSE_ALARM;
	return !*out_too_few;
}

/* In use at that time: since nothing is known of blocks from before the window, it starts with nothing. */
static double in_use_at(const struct trend_slices *slices, double time_ns)
{
	return sum_between(slices, slices->change, 0, time_ns);
}

/* The least that was in use from then on: what goes up and comes down again does not count. */
static double least_from(const struct trend_slices *slices, double time_ns)
{
	double least = in_use_at(slices, time_ns);

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		const double end_ns = fmin((double)(i + 1) * slices->width_ns, slices->window_ns);

		if (end_ns > time_ns)
			least = fmin(least, in_use_at(slices, end_ns));
	}
	return least;
}

/* A rate and its interval, from an amount. */
static void set_slope(struct trend *trend, double amount, double variance, double time_ns)
{
	const double spread = NORMAL_95 * sqrt(variance);

	trend->slope = amount / time_ns * NS_PER_S;
	trend->slope_low = (amount - spread) / time_ns * NS_PER_S;
	trend->slope_high = (amount + spread) / time_ns * NS_PER_S;
}

/*
 * Did it rise in each quarter by a fair part, for good and by more than sampling explains? The slope is that of the last three: in the first one blocks from
 * before the window come into view as they are replaced. How much those three differ is how sure that is.
 */
static bool rises_all_the_time(const struct trend_slices *slices, struct trend *trend)
{
	const double mean = least_from(slices, slices->window_ns) / QUARTERS, first_ns = time_at(slices, 1.0 / QUARTERS);
	double before = 0, variance_before = 0, first_variance = 0, sum = 0, squares = 0;

	for (int k = 1; k <= QUARTERS; k++) {
		const double from_ns = time_at(slices, (double)(k - 1) / QUARTERS),
			     to_ns = k == QUARTERS ? slices->window_ns : time_at(slices, (double)k / QUARTERS);
		const double at_end = least_from(slices, to_ns), rise = at_end - before;
		const double variance = fmax(0, sum_between(slices, slices->change_variance, 0, to_ns));

		if (rise <= 0 || rise < POOREST_SHARE * mean || sum_between(slices, slices->alloc, from_ns, to_ns) < ALLOC_MIN ||
		    rise - HEALTHY_SHARE * mean < FALSE_ALARM_NORMAL * sqrt(variance + variance_before))
			return false;
		before = at_end;
		variance_before = variance;
		first_variance = k == 1 ? variance : first_variance;
		sum += k == 1 ? 0 : rise;
		squares += k == 1 ? 0 : rise * rise;
	}
	const double scatter = fmax(0, squares - sum * sum / (QUARTERS - 1)) / (QUARTERS - 2) * (QUARTERS - 1);
	set_slope(trend, sum, fmax(scatter, first_variance + variance_before), slices->window_ns - first_ns);
	return true;
}

/*
 * How much more was in use at the end than at that time, and its variance: what was born since and lives, less what lived then and does not now, as two
 * Poisson counts.
 */
static double change_since(const struct trend_slices *slices, double time_ns, double *out_variance)
{
	const double at_end = in_use_at(slices, slices->window_ns), then = in_use_at(slices, time_ns);
	const double born = sum_between(slices, slices->live, time_ns, slices->window_ns);
	const double died = fmax(0, then - sum_between(slices, slices->live, 0, time_ns));

	*out_variance = grain(slices) * (born + died);
	return at_end - then;
}

static bool went_on_since(const struct trend_slices *slices, double time_ns)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns;
	const double expected = sum_between(slices, slices->live, 0, before_tail_ns) / passed(slices, before_tail_ns) * (1 - passed(slices, time_ns));
	double variance;
	const double change = change_since(slices, time_ns, &variance);

	return change >= GOES_ON_SHARE * expected || change >= expected - GOES_ON_DEVIATIONS * sqrt(variance);
}

struct trend trend_of(const struct trend_slices *slices)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns, half_ns = slices->window_ns / 2, each = grain(slices);
	struct trend trend = {.verdict = TREND_TOO_FEW};
	double variance, change, born;
	bool too_few, by_survivors, goes_on;

	if (slices->window_ns <= 0 || before_tail_ns <= 0)
		return trend;
	born = sum_between(slices, slices->live, 0, before_tail_ns);
	trend.samples = each > 0 ? born / each : 0;
	change = change_since(slices, half_ns, &variance);
	set_slope(&trend, change, variance + each * each, slices->window_ns - half_ns);
	if (sum_between(slices, slices->alloc, 0, slices->window_ns) < SAMPLES_MIN)
		return trend;
	by_survivors = has_survivors_of_all_times(slices, &too_few);
	goes_on = went_on_since(slices, time_at(slices, 0.5)) && went_on_since(slices, time_at(slices, 0.75));
	if (by_survivors && goes_on) {
		trend.verdict = TREND_GROWS;
		set_slope(&trend, born, born * each, before_tail_ns);
	} else if (rises_all_the_time(slices, &trend)) {
		trend.verdict = TREND_GROWS;
	} else if (!(too_few && goes_on)) {
		trend.verdict = TREND_STEADY;
	}
	return trend;
}
