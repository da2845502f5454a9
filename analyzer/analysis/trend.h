/* SPDX-License-Identifier: MIT */
/*
 * trend.h - whether the memory that a stack holds grows, and whether it will go on growing.
 *
 * It decides from the times at which samples were allocated and freed within one window.
 * docs/sampling.md has the derivation, the sources and the measured rate of false alarms. This file
 * does not depend on profiles.
 */
#ifndef HI_TREND_H
#define HI_TREND_H

#include <stdbool.h>

#include "history.h"

/*
 * What is known of a stack, in slices of equal width from the start of the window. A sample counts
 * with its weight: the bytes that it stands for.
 */
struct trend_slices {
	double width_ns, window_ns, tail_ns; /* the tail is the youngest part of the window */
	double clock[HISTORY_SLICES + 1];    /* trend_set_clock() */
	double live[HISTORY_SLICES];         /* weights of samples in use at the end, by birth */
	double live_square[HISTORY_SLICES];  /* squares of these weights */
	double change[HISTORY_SLICES];       /* weights allocated minus weights freed */
	/* variances of change[] that result from sampling */
	double change_variance[HISTORY_SLICES];
	double alloc[HISTORY_SLICES]; /* samples allocated */
};

enum trend_verdict {
	/* more samples would decide it: the window is too short, or samples are too rare */
	TREND_TOO_FEW,
	TREND_STEADY,
	TREND_SHRINKS,
	TREND_PROBABLY, /* grows, with ten times the probability of a false alarm */
	TREND_GROWS,
	/* trend_of() does not return these. It grows, and the process does not: old blocks make
	   room */
	TREND_REPLACES,
	TREND_UNSURE, /* the profile's caveats withhold verdicts */
	TREND_VERDICTS
};
/* "grows", "probably grows", "cannot tell yet", ... */
const char *trend_word(enum trend_verdict verdict);
static inline bool trend_is_growth(enum trend_verdict verdict)
{
	return verdict == TREND_GROWS || verdict == TREND_PROBABLY;
}

struct trend {
	enum trend_verdict verdict;
	double slope, slope_low, slope_high; /* bytes per second, and its 95 % interval */
	double samples;                      /* samples in use that are older than the tail */
	/* of TREND_TOO_FEW: by how much longer the window must be, roughly; 0 = not known */
	double more_ns;
};
/* The probability of a false alarm that TREND_GROWS is allowed where one stack is looked at. */
#define TREND_LEVEL 0.01

/*
 * Sets clock[], the program's own time: half of it passes with the wall clock, half with the number
 * of allocations. A program that is idle, or that has little to do for a while, grows less in that
 * time.
 *
 * activity: by slice, the number of samples that the whole program allocated. The caller sets
 * width_ns and window_ns first.
 */
void trend_set_clock(struct trend_slices *slices, const double *activity);
/*
 * level: the probability of a false alarm that TREND_GROWS is allowed. Who looks at many stacks
 * divides TREND_LEVEL by their number.
 */
struct trend trend_of(const struct trend_slices *slices, double level);
/* The fraction of slice i before that time: 0 to 1. */
double trend_part_before(const struct trend_slices *slices, size_t i, double time_ns);

#endif
