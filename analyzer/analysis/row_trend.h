/* SPDX-License-Identifier: MIT */
/*
 * row_trend.h - adds up what the rows of a profile have in slices of the window, for trend.h, and
 * what of it is in use and older than the tail.
 *
 * Rows without a history, and rows of the base side of a comparison, do not count.
 */
#ifndef HI_ROW_TREND_H
#define HI_ROW_TREND_H

#include "estimate.h"
#include "trend.h"

struct row_trend {
	struct trend_slices slices;
	struct estimate bytes, objects; /* in use, and older than the tail */
};

/* The sum of no rows: it has the slices and the program's own time. */
void row_trend_begin(const struct profile *profile, double tail_ns, struct row_trend *out_begin);
bool row_trend_counts(const struct profile_row *row);
void row_trend_add(const struct profile *profile, const struct profile_row *row,
		   struct row_trend *sum);
/* What is in use at the end of each of `count` parts of the window, as a share of the most of it.
 */
void row_trend_bars(const struct trend_slices *slices, size_t count, double *out_bar);

#endif
