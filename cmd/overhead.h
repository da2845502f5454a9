/* SPDX-License-Identifier: MIT */
/*
 * overhead.h - how seldom samples must be taken for the payload to stay within its share of the target's CPU time.
 *
 * Looks at the growth of some figures: samples taken, the time that the payload spent in the target's threads and the CPU time of the target (which holds the
 * former), and answers with a number of interval_shift of the interval that was asked for. Above the budget it doubles at once as often as the excess demands; far
 * below it goes back by one at a time, never below what was asked for. Knows nothing of processes.
 */
#ifndef HI_OVERHEAD_H
#define HI_OVERHEAD_H

#include <stdbool.h>

#include "hi_stream.h"

struct overhead {
	uint32_t budget_ppm; /* 0 = none: nothing ever changes */
	uint32_t interval_shift, interval_shift_max;
	uint64_t samples, payload_ns, target_ns; /* where the window began */
	uint32_t calm;                           /* windows in a row in which half the interval would have been affordable, too */
};

/* interval: as asked for. */
void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval);
/* Figures since the start of the session, of which those that could not be read are 0. True: `interval_shift` has changed. */
bool overhead_step(struct overhead *overhead, const struct hi_stream_stats *stats);

#endif
