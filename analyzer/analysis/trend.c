/* SPDX-License-Identifier: MIT */
/*
 * trend.c - see trend.h. A stack grows if the answer to questions 1 and 3, or to question 2, is
 * yes.
 *
 * 1. Were survivors born in all parts of the window? If not, it is a cache that evicts, a pool
 *    that was emptied, or a warm-up.
 * 2. Did the memory in use itself rise in all parts, as with blocks that are replaced by larger
 *    ones?
 * 3. Did the growth go on to the end?
 *
 * Start at trend_of().
 */
#include "trend.h"

#include <math.h>
#include <stdbool.h>

#define QUARTERS 4
/*
 * of the mean number of allocations in a slice: allocations beyond BURST means do not add to the
 * program's own time
 */
#define BURST 2
#define SAMPLES_MIN 20.0 /* below this there is no verdict */
/* of the mean of the quarters: the poorest quarter must have at least this if something grows */
#define POOREST_SHARE 0.4
/* of the same mean: the most that a quarter of a stack that does not grow may have */
#define HEALTHY_SHARE (1.0 / 6)
#define FALSE_ALARM 0.01 /* probability, for a quarter with HEALTHY_SHARE */
#define FALSE_ALARM_NORMAL 2.326348
#define NORMAL_95 1.959964
/* of the expected growth: this much must have come in the last half and in the last quarter, */
#define GOES_ON_SHARE (1.0 / 3)
#define GOES_ON_DEVIATIONS 2.0 /* unless it is within this many standard deviations */
/* least allocations in each quarter, for blocks that are replaced by larger ones */
#define ALLOC_MIN 3.0
#define NS_PER_S 1e9

/*
 * The probability that a Poisson count of this mean is at least `count`, which may be a fraction:
 * the approximation of Wilson and Hilferty.
 */
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
	const double from = (double)i * slices->width_ns,
		     to = fmin(from + slices->width_ns, fmax(slices->window_ns, from + 1));

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
		const double from = fmin((double)i * slices->width_ns, slices->window_ns),
			     to = fmin((double)(i + 1) * slices->width_ns, slices->window_ns);
		const double by_clock = (to - from) / slices->window_ns;

		slices->clock[i + 1] =
			slices->clock[i] +
			(all > 0 ? (by_clock + fmin(activity[i], most) / all) / 2 : by_clock);
	}
}

/* The fraction of the program's own time that has passed at time_ns. */
static double passed(const struct trend_slices *slices, double time_ns)
{
	double sum = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		sum += (slices->clock[i + 1] - slices->clock[i]) *
		       trend_part_before(slices, i, time_ns);
	return sum;
}

/* The time at which this fraction of the program's own time had passed. */
static double time_at(const struct trend_slices *slices, double share)
{
	size_t i = 0;

	while (i + 1 < HISTORY_SLICES && slices->clock[i + 1] < share)
		i++;
	const double width = slices->clock[i + 1] - slices->clock[i],
		     from = (double)i * slices->width_ns;
	const double to = fmin(from + slices->width_ns, slices->window_ns);

	return fmin(slices->window_ns,
		    from + (to - from) * (width > 0 ? fmin(1, fmax(0, (share - slices->clock[i]) /
									      width))
						    : 1));
}

static double sum_between(const struct trend_slices *slices, const double *of, double from_ns,
			  double to_ns)
{
	double sum = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++)
		sum += of[i] * (trend_part_before(slices, i, to_ns) -
				trend_part_before(slices, i, from_ns));
	return sum;
}

/* The weight of a typical survivor: by this much one more sample would change the sum. */
static double grain(const struct trend_slices *slices)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		sum += slices->live[i];
		squares += slices->live_square[i];
	}
	return sum > 0 ? squares / sum : 0;
}

/* Was at least POOREST_SHARE of a quarter's mean born in each quarter before the tail? */
static bool has_survivors_of_all_times(const struct trend_slices *slices, bool *out_too_few)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns,
		     all = passed(slices, before_tail_ns), each = grain(slices);
	double mean, poorest = INFINITY;

	*out_too_few = false;
	if (each <= 0)
		return false;
	for (int k = 0; k < QUARTERS; k++) {
		const double from_ns = time_at(slices, all * k / QUARTERS),
			     to_ns = fmin(before_tail_ns,
					  time_at(slices, all * (k + 1) / QUARTERS));

		poorest = fmin(poorest, sum_between(slices, slices->live, from_ns, to_ns) / each);
	}
	mean = sum_between(slices, slices->live, 0, before_tail_ns) / each / QUARTERS;
	if (mean <= 0 || poorest < POOREST_SHARE * mean)
		return false;
	*out_too_few = before_tail_ns < QUARTERS * slices->width_ns ||
		       mean * QUARTERS < SAMPLES_MIN ||
		       poisson_above(poorest, HEALTHY_SHARE * mean) > FALSE_ALARM;
	return !*out_too_few;
}

/*
 * The bytes in use at that time. Blocks from before the window are unknown, so the sum starts at 0.
 */
static double in_use_at(const struct trend_slices *slices, double time_ns)
{
	return sum_between(slices, slices->change, 0, time_ns);
}

/* The minimum of the bytes in use from that time on: a rise that is later undone does not count. */
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

/* Sets a rate and its interval from an amount. */
static void set_slope(struct trend *trend, double amount, double variance, double time_ns)
{
	const double spread = NORMAL_95 * sqrt(variance);

	trend->slope = amount / time_ns * NS_PER_S;
	trend->slope_low = (amount - spread) / time_ns * NS_PER_S;
	trend->slope_high = (amount + spread) / time_ns * NS_PER_S;
}

/*
 * Did the memory in use rise in each quarter, by a fair part of the mean, for good, and by more
 * than sampling explains? The slope is that of the last three quarters: in the first quarter blocks
 * from before the window become visible as they are replaced. The interval of the slope comes from
 * the scatter of the last three quarters.
 */
static bool rises_all_the_time(const struct trend_slices *slices, struct trend *trend)
{
	const double mean = least_from(slices, slices->window_ns) / QUARTERS,
		     first_ns = time_at(slices, 1.0 / QUARTERS);
	double before = 0, variance_before = 0, first_variance = 0, sum = 0, squares = 0;

	for (int k = 1; k <= QUARTERS; k++) {
		const double from_ns = time_at(slices, (double)(k - 1) / QUARTERS),
			     to_ns = k == QUARTERS ? slices->window_ns
						   : time_at(slices, (double)k / QUARTERS);
		const double at_end = least_from(slices, to_ns), rise = at_end - before;
		const double variance =
			fmax(0, sum_between(slices, slices->change_variance, 0, to_ns));

		if (rise <= 0 || rise < POOREST_SHARE * mean ||
		    sum_between(slices, slices->alloc, from_ns, to_ns) < ALLOC_MIN ||
		    rise - HEALTHY_SHARE * mean <
			    FALSE_ALARM_NORMAL * sqrt(variance + variance_before))
			return false;
		before = at_end;
		variance_before = variance;
		first_variance = k == 1 ? variance : first_variance;
		sum += k == 1 ? 0 : rise;
		squares += k == 1 ? 0 : rise * rise;
	}
	const double scatter =
		fmax(0, squares - sum * sum / (QUARTERS - 1)) / (QUARTERS - 2) * (QUARTERS - 1);
	set_slope(trend, sum, fmax(scatter, first_variance + variance_before),
		  slices->window_ns - first_ns);
	return true;
}

/*
 * How much more is in use at the end than at time_ns, and the variance of that. The change is the
 * blocks born since that are in use, minus the blocks in use then that are not any more. The
 * variance is that of two Poisson counts.
 */
static double change_since(const struct trend_slices *slices, double time_ns, double *out_variance)
{
	const double at_end = in_use_at(slices, slices->window_ns),
		     then = in_use_at(slices, time_ns);
	const double born = sum_between(slices, slices->live, time_ns, slices->window_ns);
	const double died = fmax(0, then - sum_between(slices, slices->live, 0, time_ns));

	*out_variance = grain(slices) * (born + died);
	return at_end - then;
}

static bool went_on_since(const struct trend_slices *slices, double time_ns)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns;
	const double expected = sum_between(slices, slices->live, 0, before_tail_ns) /
				passed(slices, before_tail_ns) * (1 - passed(slices, time_ns));
	double variance;
	const double change = change_since(slices, time_ns, &variance);

	return change >= GOES_ON_SHARE * expected ||
	       change >= expected - GOES_ON_DEVIATIONS * sqrt(variance);
}

struct trend trend_of(const struct trend_slices *slices)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns,
		     half_ns = slices->window_ns / 2, each = grain(slices);
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
	goes_on = went_on_since(slices, time_at(slices, 0.5)) &&
		  went_on_since(slices, time_at(slices, 0.75));
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
