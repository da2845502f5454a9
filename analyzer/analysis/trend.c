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

#include "hi_slope.h"

#define QUARTERS 4
/* of the window, each of which must rise: a random walk rises in each of few by chance */
#define RISE_PARTS 6
/*
 * of the mean number of allocations in a slice: allocations beyond BURST means do not add to the
 * program's own time
 */
#define BURST 2
#define SAMPLES_MIN 16.0  /* below this nothing grows or is steady for certain, */
#define PROBABLY_MIN 8.0  /* and nothing grows probably */
#define PROBABLY_TIMES 10 /* how much more often "probably" is a false alarm */
/* as many survivors as decide it mostly, at TREND_LEVEL and for each digit beyond */
#define SAMPLES_ENOUGH 32.0
#define SAMPLES_A_DIGIT 12.0
#define WARM_UP 0.25 /* of the program's own time */
#define DENIED 0.05
#define SURVIVORS_FEW 3.0 /* so few mean that nothing to speak of stays */
/* of the mean of the quarters: the poorest quarter must have at least this if something grows */
#define POOREST_SHARE 0.4
/* of the same mean: the most that a quarter of a stack that does not grow may have */
#define HEALTHY_SHARE (1.0 / 6)
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

/*
 * What the survivors born from some time on say: were at least POOREST_SHARE of a quarter's mean
 * born in each quarter between that time and the tail?
 */
struct survivors {
	double count; /* samples, of equal weight */
	double since; /* of the program's own time: where they begin */
	/* that the poorest quarter has so many, if a stack does not grow; 1 if it has too few */
	double false_alarm;
	bool is_denied; /* the poorest quarter has too few, and not by chance */
};

static struct survivors survivors_since(const struct trend_slices *slices, double since)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns,
		     all = passed(slices, before_tail_ns) - since, each = grain(slices);
	struct survivors survivors = {.since = since, .false_alarm = 1};
	double mean, poorest = INFINITY;

	if (each <= 0 || all <= 0)
		return survivors;
	for (int k = 0; k < QUARTERS; k++) {
		const double from_ns = time_at(slices, since + all * k / QUARTERS),
			     to_ns = fmin(before_tail_ns,
					  time_at(slices, since + all * (k + 1) / QUARTERS));
		const double count = sum_between(slices, slices->live, from_ns, to_ns) / each;

		survivors.count += count;
		poorest = fmin(poorest, count);
	}
	mean = survivors.count / QUARTERS;
	survivors.is_denied = 1 - poisson_above(poorest + 1, POOREST_SHARE * mean) < DENIED;
	if (poorest >= POOREST_SHARE * mean && before_tail_ns >= QUARTERS * slices->width_ns)
		survivors.false_alarm = poisson_above(poorest, HEALTHY_SHARE * mean);
	return survivors;
}

/*
 * The stronger one of two: of the whole window, and of what follows a first quarter, in which a
 * program may have warmed up. As there are two chances, either must be twice as strong.
 */
static struct survivors find_survivors(const struct trend_slices *slices)
{
	const struct survivors all = survivors_since(slices, 0),
			       later = survivors_since(slices, WARM_UP);
	struct survivors stronger = later.false_alarm < all.false_alarm ? later : all;

	stronger.false_alarm = fmin(1, 2 * stronger.false_alarm);
	stronger.is_denied = all.is_denied && later.is_denied;
	return stronger;
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
 * Did the memory in use rise in each part, by a fair part of the mean, for good, and by more
 * than sampling explains? The slope is that of all parts but the first: in the first part blocks
 * from before the window become visible as they are replaced. The interval of the slope comes from
 * the scatter of these parts.
 */
static bool rises_all_the_time(const struct trend_slices *slices, struct trend *trend)
{
	const double mean = least_from(slices, slices->window_ns) / RISE_PARTS,
		     first_ns = time_at(slices, 1.0 / RISE_PARTS);
	double before = 0, variance_before = 0, first_variance = 0, sum = 0, squares = 0;

	for (int k = 1; k <= RISE_PARTS; k++) {
		const double from_ns = time_at(slices, (double)(k - 1) / RISE_PARTS),
			     to_ns = k == RISE_PARTS ? slices->window_ns
						     : time_at(slices, (double)k / RISE_PARTS);
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
	const double scatter = fmax(0, squares - sum * sum / (RISE_PARTS - 1)) / (RISE_PARTS - 2) *
			       (RISE_PARTS - 1);
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

/*
 * By how much the memory in use fluctuates by itself: the variance around its line, after the first
 * quarter. A program that fills and empties its memory ends anywhere on that way.
 */
static double fluctuation(const struct trend_slices *slices)
{
	double time[HISTORY_SLICES], in_use[HISTORY_SLICES], sum = 0, mean_time = 0, mean = 0;
	size_t count = 0;

	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		const double end_ns = (double)(i + 1) * slices->width_ns;

		if (end_ns < WARM_UP * slices->window_ns || end_ns > slices->window_ns)
			continue;
		time[count] = end_ns;
		in_use[count++] = in_use_at(slices, end_ns);
	}
	if (count < 3)
		return 0;
	const double line = slope_of_line(time, in_use, count);
	for (size_t i = 0; i < count; i++) {
		mean_time += time[i] / (double)count;
		mean += in_use[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		const double rest = in_use[i] - mean - line * (time[i] - mean_time);

		sum += rest * rest;
	}
	return sum / (double)(count - 2);
}

/* Expects as much as came between begin, in the program's own time, and the tail. */
static bool went_on_since(const struct trend_slices *slices, double begin, double time_ns)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns;
	const double expected =
		sum_between(slices, slices->live, time_at(slices, begin), before_tail_ns) /
		(passed(slices, before_tail_ns) - begin) * (1 - passed(slices, time_ns));
	double variance;
	const double change = change_since(slices, time_ns, &variance);

	return change >= GOES_ON_SHARE * expected ||
	       change >= expected - GOES_ON_DEVIATIONS * sqrt(variance);
}

/* How much longer the window must be for enough survivors, if they come as they did. */
static double more_ns(const struct trend_slices *slices, double count, double level)
{
	const double wanted =
		SAMPLES_ENOUGH + SAMPLES_A_DIGIT * fmax(0, log10(TREND_LEVEL / level));

	return count > 0 && count < wanted ? slices->window_ns * (wanted / count - 1)
					   : slices->window_ns / 2;
}

/* What does not grow by its survivors, and does not rise all the time either. */
static enum trend_verdict verdict_of_rest(const struct trend *trend,
					  const struct survivors *survivors, bool goes_on)
{
	if (trend->slope_high < 0)
		return TREND_SHRINKS;
	/* an interval without 0 contradicts "steady" */
	if (trend->slope_low > 0)
		return TREND_TOO_FEW;
	if (survivors->count <= SURVIVORS_FEW)
		return TREND_STEADY;
	return goes_on && !survivors->is_denied ? TREND_TOO_FEW : TREND_STEADY;
}

struct trend trend_of(const struct trend_slices *slices, double level)
{
	const double before_tail_ns = slices->window_ns - slices->tail_ns,
		     half_ns = slices->window_ns / 2, each = grain(slices);
	struct trend trend = {.verdict = TREND_TOO_FEW};
	double variance, change, born;

	if (slices->window_ns <= 0 || before_tail_ns <= 0)
		return trend;
	born = sum_between(slices, slices->live, 0, before_tail_ns);
	trend.samples = each > 0 ? born / each : 0;
	change = change_since(slices, half_ns, &variance);
	set_slope(&trend, change, variance + each * each + 2 * fluctuation(slices),
		  slices->window_ns - half_ns);
	const struct survivors survivors = find_survivors(slices);
	const bool goes_on = went_on_since(slices, survivors.since, time_at(slices, 0.5)) &&
			     went_on_since(slices, survivors.since, time_at(slices, 0.75));
	if (goes_on && survivors.false_alarm <= level && survivors.count >= SAMPLES_MIN) {
		trend.verdict = TREND_GROWS;
	} else if (goes_on && survivors.false_alarm <= PROBABLY_TIMES * level &&
		   survivors.count >= PROBABLY_MIN) {
		trend.verdict = TREND_PROBABLY;
	} else if (sum_between(slices, slices->alloc, 0, slices->window_ns) >= SAMPLES_MIN) {
		trend.verdict = rises_all_the_time(slices, &trend)
					? TREND_GROWS
					: verdict_of_rest(&trend, &survivors, goes_on);
		if (trend.verdict == TREND_GROWS)
			return trend;
	}
	if (trend.verdict == TREND_TOO_FEW)
		trend.more_ns = more_ns(slices, survivors.count, level);
	if (trend_is_growth(trend.verdict)) {
		const double begin_ns = time_at(slices, survivors.since);

		born = sum_between(slices, slices->live, begin_ns, before_tail_ns);
		set_slope(&trend, born, born * each, before_tail_ns - begin_ns);
	}
	return trend;
}

const char *trend_word(enum trend_verdict verdict)
{
	static const char *const words[TREND_VERDICTS] = {
		[TREND_TOO_FEW] = "cannot tell yet",
		[TREND_STEADY] = "steady",
		[TREND_SHRINKS] = "shrinks",
		[TREND_PROBABLY] = "probably grows",
		[TREND_GROWS] = "grows",
		[TREND_REPLACES] = "replaces older blocks",
		[TREND_UNSURE] = "cannot tell",
	};

	return words[verdict];
}
