/* SPDX-License-Identifier: MIT */
/*
 * hi_slope.h - how fast a quantity changes that was measured at several times, and whether the
 * change is more than chance.
 *
 * It uses the Theil-Sen slope and the Mann-Kendall test (docs/sampling.md). The analyzer has it
 * (analyzer/analysis/slope.c); `census` asks it, too.
 */
#ifndef HI_SLOPE_H
#define HI_SLOPE_H

#include <stdbool.h>
#include <stddef.h>

#define SLOPE_POINTS_MAX 4096u
#define SLOPE_POINTS_MIN 6u /* with fewer points no order of values is improbable enough */

struct slope {
	/*
	 * per unit of time; low and high are the 95 % interval, unbounded below SLOPE_POINTS_MIN
	 * points
	 */
	double value, low, high;
	/* value at time 0 of the line with this slope that has as many points above it as below */
	double level;
	/* the probability that values without a slope have as clear an order; 1: not known */
	double chance;
	bool is_sure; /* the slope differs from zero, at the 1 % level */
};

/* The slope of the least-squares line, for a quick estimate. */
double slope_of_line(const double *time, const double *value, size_t count);
/* count: at least 2. Returns 0 or -ENOMEM. */
int slope_of(const double *time, const double *value, size_t count, struct slope *out_slope);

#endif
