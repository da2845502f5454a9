/* SPDX-License-Identifier: MIT */
/*
 * growth.h - how what each stack of a series holds has changed over its snapshots, the steepest first.
 *
 * Of all stacks there is a straight line; slope, interval and test, which cost more, are of those whose lines are the steepest (docs/sampling.md).
 */
#ifndef HI_GROWTH_H
#define HI_GROWTH_H

#include "series.h"
#include "slope.h"

struct growth_stack {
	const struct series_stack *stack;
	double line;        /* steepness of the straight line */
	struct slope slope; /* of the first `closer` ones */
};
struct growth {
	const struct series *series; /* the caller's */
	double *time;                /* by snapshot: series_times() */
	bool has_times;              /* in seconds; else slopes are per file */
	bool is_exact;               /* no value is an estimate from samples */
	struct slope total;          /* of all stacks together */
	struct growth_stack *stack;  /* of each; those looked at more closely first, by their slopes */
	size_t closer;
};

/* wanted: how many stacks will be shown, at least so many are looked at closely. Of 2 to SLOPE_POINTS_MAX snapshots. 0 or -ENOMEM; close it in either case. */
int growth_open(const struct series *series, size_t wanted, struct growth *out_growth);
void growth_close(struct growth *growth);
/* What slopes are per: "s", "file". */
const char *growth_unit(const struct growth *growth);
/* "grows", "shrinks", "steady", "too few files", "cannot tell" (caveats.h). */
const char *growth_verdict(const struct growth *growth, const struct slope *slope);

#endif
