/* SPDX-License-Identifier: MIT */
/* slope.c - see hi_slope.h. */
#include "hi_slope.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* a sum of squares below this share is rounding: the points are on a straight line */
#define ROUNDING 1e-20
#define NORMAL_95 1.959964
#define SURE 0.01

double slope_of_line(const double *time, const double *value, size_t count)
{
	double time_mean = 0, value_mean = 0, products = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		time_mean += time[i] / (double)count;
		value_mean += value[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		products += (time[i] - time_mean) * (value[i] - value_mean);
		squares += (time[i] - time_mean) * (time[i] - time_mean);
	}
	return squares > 0 ? products / squares : 0;
}

static int compare_numbers(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/*
 * The correlation of neighbouring residuals after the slope is subtracted. Correlated values carry
 * less information than the same number of independent ones.
 */
static double correlation(const double *time, const double *value, size_t count, double slope)
{
	double mean = 0, before = 0, products = 0, squares = 0, size = 0;

	for (size_t i = 0; i < count; i++) {
		mean += (value[i] - slope * time[i]) / (double)count;
		size += value[i] * value[i];
	}
	for (size_t i = 0; i < count; i++) {
		const double rest = value[i] - slope * time[i] - mean;

		products += rest * before;
		squares += rest * rest;
		before = rest;
	}
	return squares > ROUNDING * size ? fmin(fmax(products / squares, 0), 0.9) : 0;
}

/*
 * Kendall's variance of the number of rising pairs minus the number of falling pairs, corrected for
 * equal values.
 */
static double pairs_variance(const double *sorted, size_t count)
{
	const double n = (double)count;
	double variance = n * (n - 1) * (2 * n + 5);

	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && sorted[next] == sorted[i]; next++)
			;
		const double ties = (double)(next - i);
		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	return variance / 18;
}

/*
 * Fills slopes[] with the slopes between all pairs of points, sorted. Returns the number of rising
 * pairs minus the number of falling pairs.
 */
static double pair_slopes(const double *time, const double *value, size_t count, double *slopes,
			  size_t *out_slopes)
{
	double rising = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = i + 1; k < count; k++) {
			rising += (value[k] > value[i]) - (value[k] < value[i]);
			if (time[k] != time[i])
				slopes[pairs++] = (value[k] - value[i]) / (time[k] - time[i]);
		}
	}
	qsort(slopes, pairs, sizeof(*slopes), compare_numbers);
	*out_slopes = pairs;
	return rising;
}

static void set_interval(const double *slopes, size_t pairs, double deviation, struct slope *slope)
{
	const double reach = NORMAL_95 * deviation;
	const double low = floor(((double)pairs - reach) / 2),
		     high = ceil(((double)pairs + reach) / 2);

	slope->low = low < 0 ? -INFINITY : slopes[(size_t)low];
	slope->high = high >= (double)pairs ? INFINITY : slopes[(size_t)high];
}

/* Both tails of the normal distribution; one pair is the correction for continuity. */
static double chance_of(double rising, double deviation)
{
	const double pairs = fmax(fabs(rising) - 1, 0);

	return deviation > 0 ? erfc(pairs / (deviation * sqrt(2))) : 1;
}

/* The median residual. Overwrites sorted[] with the residuals, sorted. */
static double level_of(const double *time, const double *value, size_t count, double slope,
		       double *sorted)
{
	for (size_t i = 0; i < count; i++)
		sorted[i] = value[i] - slope * time[i];
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

int slope_of(const double *time, const double *value, size_t count, struct slope *out_slope)
{
	double *slopes = malloc((count * (count - 1) / 2 + count + 1) * sizeof(*slopes)), *sorted;
	size_t pairs;

	if (!slopes)
		return -ENOMEM;
	sorted = slopes + count * (count - 1) / 2;
	for (size_t i = 0; i < count; i++)
		sorted[i] = value[i];
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	const double rising = pair_slopes(time, value, count, slopes, &pairs);
	*out_slope = (struct slope){.low = -INFINITY, .high = INFINITY, .chance = 1};
	if (pairs)
		out_slope->value = (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2;
	const double r = correlation(time, value, count, out_slope->value);
	const double deviation = sqrt(pairs_variance(sorted, count) * (1 + r) / (1 - r));
	out_slope->level = level_of(time, value, count, out_slope->value, sorted);
	if (count >= SLOPE_POINTS_MIN && pairs) {
		set_interval(slopes, pairs, deviation, out_slope);
		out_slope->chance = chance_of(rising, deviation);
		out_slope->is_sure = out_slope->chance < SURE;
	}
	free(slopes);
	return 0;
}
