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

/* TREND_UNSURE: the profile's caveats withhold verdicts. trend_of() never returns it. */
enum trend_verdict { TREND_TOO_FEW, TREND_STEADY, TREND_GROWS, TREND_UNSURE, TREND_VERDICTS };

struct trend {
	enum trend_verdict verdict;
	double slope, slope_low, slope_high; /* bytes per second, and its 95 % interval */
	double samples;                      /* samples in use that are older than the tail */
};

/*
 * Sets clock[], the program's own time: half of it passes with the wall clock, half with the number
 * of allocations. A program that is idle, or that has little to do for a while, grows less in that
 * time.
 *
 * activity: by slice, the number of samples that the whole program allocated. The caller sets
 * width_ns and window_ns first.
 */
void trend_set_clock(struct trend_slices *slices, const double *activity);
struct trend trend_of(const struct trend_slices *slices);
/* The fraction of slice i before that time: 0 to 1. */
double trend_part_before(const struct trend_slices *slices, size_t i, double time_ns);

#endif
