/* SPDX-License-Identifier: MIT */
/*
 * trend.h - does what a stack holds grow, and will it go on? From when its samples were allocated and freed within one window. Derivation, sources and measured
 * false alarms: docs/sampling.md. Knows nothing of profiles.
 */
#ifndef HI_TREND_H
#define HI_TREND_H

#include "history.h"

/* What is known, in slices of one width from the start of the window on. A sample counts with its weight: the bytes that it stands for. */
struct trend_slices {
	double width_ns, window_ns, tail_ns;    /* the tail is the youngest part of the window */
	double clock[HISTORY_SLICES + 1];       /* trend_set_clock() */
	double live[HISTORY_SLICES];            /* weights of what lives at the end, by birth */
	double live_square[HISTORY_SLICES];     /* squares of these weights */
	double change[HISTORY_SLICES];          /* weights allocated less weights freed */
	double change_variance[HISTORY_SLICES]; /* the same of the variances that sampling gives these weights */
	double alloc[HISTORY_SLICES];           /* samples allocated */
};

/* TREND_UNSURE: of a profile whose caveats withhold verdicts; never of trend_of(). */
enum trend_verdict { TREND_TOO_FEW, TREND_STEADY, TREND_GROWS, TREND_UNSURE, TREND_VERDICTS };

struct trend {
	enum trend_verdict verdict;
	double slope, slope_low, slope_high; /* bytes per second, and its 95 % interval */
	double samples;                      /* that live and are older than the tail */
};

/*
 * Half of the program's time goes by the clock, half by what it allocates: in a time in which it stands still, or in which little is asked of it, less grows.
 * activity: how many samples all of the program allocated, by slice. After width_ns and window_ns.
 */
void trend_set_clock(struct trend_slices *slices, const double *activity);
struct trend trend_of(const struct trend_slices *slices);
/* How much of slice i lies before that time: 0 to 1. */
double trend_part_before(const struct trend_slices *slices, size_t i, double time_ns);

#endif
