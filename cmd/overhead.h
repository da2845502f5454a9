/* SPDX-License-Identifier: MIT */
/*
 * overhead.h - the interval shift that keeps the payload within its share of the target's CPU time.
 *
 * It looks at the growth of three figures: the samples taken, the time that the payload spent in
 * the target's threads, and the CPU time of the target (which includes the former). From these it
 * computes interval_shift, by which the interval that was asked for is shifted. Above the budget it
 * raises the shift at once by as many steps as the excess demands. Far below the budget it lowers
 * the shift by one at a time, never below 0. It knows nothing of processes.
 */
#ifndef HI_OVERHEAD_H
#define HI_OVERHEAD_H

#include <stdbool.h>

#include "hi_stream.h"

struct overhead {
	/* budget in millionths of the CPU time; 0 = no budget, the shift never changes */
	uint32_t budget_ppm;
	uint32_t interval_shift, interval_shift_max;
	uint64_t samples, payload_ns, target_ns; /* the figures at the start of the window */
	/* consecutive windows in which half the interval would also have been within the budget */
	uint32_t cheap_windows;
};

/* interval: mean bytes between samples as asked for. */
void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval);
/*
 * stats: figures since the start of the session; those that could not be read are 0. True:
 * `interval_shift` has changed.
 */
bool overhead_step(struct overhead *overhead, const struct hi_stream_stats *stats);

#endif
