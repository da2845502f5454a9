/* SPDX-License-Identifier: MIT */
/*
 * growth.h - how much the values of each stack in a series have changed over its snapshots, the
 * steepest first.
 *
 * Every stack gets a least-squares line. The slope, its interval and the test, which cost more, are
 * computed only for the stacks with the steepest lines (docs/sampling.md).
 */
#ifndef HI_GROWTH_H
#define HI_GROWTH_H

#include "series.h"
#include "hi_slope.h"

struct growth_stack {
	const struct series_stack *stack;
	double line;        /* slope of the least-squares line */
	struct slope slope; /* only for the first `closer` stacks */
};
struct growth {
	const struct series *series; /* the caller's */
	double *time;                /* by snapshot: series_times() */
	bool has_times;              /* time[] is in seconds; otherwise slopes are per file */
	bool is_exact;               /* no value is an estimate from samples */
	struct slope total;          /* of all stacks together */
	/* all stacks; the first `closer` have a slope and are sorted by it */
	struct growth_stack *stack;
	size_t closer;
};

/*
 * wanted: how many stacks will be shown; at least this many get a slope. The series must have 2 to
 * SLOPE_POINTS_MAX snapshots. Returns 0 or -ENOMEM. The caller closes *out_growth in either case.
 */
int growth_open(const struct series *series, size_t wanted, struct growth *out_growth);
void growth_close(struct growth *growth);
/* The unit of time of the slopes: "s" or "file". */
const char *growth_unit(const struct growth *growth);
/* "grows", "shrinks", "steady", "too few files", "cannot tell" (caveats.h). */
const char *growth_verdict(const struct growth *growth, const struct slope *slope);

#endif
