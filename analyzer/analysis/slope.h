/* SPDX-License-Identifier: MIT */
/*
 * slope.h - how fast a quantity changes that was looked at now and then, and whether that is more than chance. Theil and Sen's slope, Mann and Kendall's test
 * (docs/sampling.md).
 */
#ifndef HI_SLOPE_H
#define HI_SLOPE_H

#include <stdbool.h>
#include <stddef.h>

#define SLOPE_POINTS_MAX 4096u
#define SLOPE_POINTS_MIN 6u /* below that no order of values is unlikely enough */

struct slope {
	double value, low, high; /* per unit of time; 95 % interval; of less than SLOPE_POINTS_MIN points it is unbounded */
	double level;            /* at time 0, of the line with this slope that has as many points above it as below */
	bool is_sure;            /* it is not zero: at 1 % */
};

/* Least squares; what a quick look is for. */
double slope_of_line(const double *time, const double *value, size_t count);
/* count: at least 2. 0 or -ENOMEM. */
int slope_of(const double *time, const double *value, size_t count, struct slope *out_slope);

#endif
