/* SPDX-License-Identifier: MIT */
/*
 * overhead.h - how much may be sampled within the budget: the interval shift, and the thinning of
 * each key (struct hi_thinning, hi_wire.h).
 *
 * The budget is a share of the target's CPU time or a quarter of that share of one core, whichever
 * is more: a process that idles has time to spare. heapinject's own CPU time counts, too. What is
 * left is divided: more than half is for allocations that are due, each of which costs little, and
 * the rest for those of them that are recorded. So overhead_step()
 *
 *   1. measures how much was due at each key since the last step, and what a record costs;
 *   2. chooses the finest interval at which what is due costs no more than its part;
 *   3. chooses the most records that one key may make, so that all keys together make as many as
 *      the rest of the budget allows. Rare allocations are all recorded, frequent ones equally
 * often.
 *
 * It knows nothing of processes, and emits nothing.
 */
#ifndef HI_OVERHEAD_H
#define HI_OVERHEAD_H

#include <stdbool.h>

#include "hi_wire.h"
#include "thinned_due.h"

/* of a core, by the share of CPU time: what a process that idles can spare */
#define OVERHEAD_CORE_SHARE 0.25

/* Figures since the start of the session, in nanoseconds and counts. */
struct overhead_figures {
	uint64_t time_ns;
	uint64_t target_ns;  /* CPU time of the target, the payload's included */
	uint64_t payload_ns; /* CPU time of the payload in the target's threads */
	uint64_t own_ns;     /* CPU time of the injector and the analyzer */
	uint64_t samples;    /* recorded */
	uint64_t live;       /* samples that are not freed yet; no total */
};

struct overhead {
	/* budget in millionths of the CPU time; 0 = no budget: nothing ever changes */
	uint32_t budget_ppm;
	uint64_t interval;  /* the finest, in bytes */
	uint32_t shift_max; /* as in struct hi_control */
	uint32_t interval_shift;
	struct overhead_figures last; /* at the last step */
	/* smoothed; 0 = not known yet */
	double target_share, own_share; /* CPU time by time */
	double record_ns;               /* what a recorded sample costs, its free included */
	double due[HI_THINNING_KEYS];   /* due per second, by key, at interval_shift */
	struct thinned_due thinned;     /* until the last step */
};

/* interval_shift: the one that the payload begins with. */
void overhead_open(struct overhead *overhead, uint32_t budget_ppm, uint64_t interval,
		   uint32_t interval_shift, uint32_t shift_max);
/*
 * Takes the counts of `thinning`, and sets its shifts. *shift: the payload's interval_shift, which
 * it may have raised itself; set to the new one. The target can write both, so they are only used
 * within bounds. False: no time has passed, and nothing was looked at.
 */
bool overhead_step(struct overhead *overhead, const struct overhead_figures *now,
		   struct hi_thinning *thinning, uint32_t *shift);
/*
 * Instead of a step, where the interval is not by the budget: takes the counts, and thins nothing.
 * shift: the payload's interval_shift.
 */
void overhead_hold(struct overhead *overhead, const struct overhead_figures *now,
		   struct hi_thinning *thinning, uint32_t shift);
/* At the end: takes what was due since the last step into `thinned`. No step may follow. */
void overhead_end(struct overhead *overhead, struct hi_thinning *thinning, uint32_t shift);
/* The budget as it is now, in nanoseconds per second. */
double overhead_budget(const struct overhead *overhead);

#endif
