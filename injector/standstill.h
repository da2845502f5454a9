/* SPDX-License-Identifier: MIT */
/*
 * standstill.h - all threads of a target stopped at the same time. What needs it is to change words that running threads may be writing, or unmapping; it is
 * over as soon as they are changed.
 *
 * begin and end from one tracing thread (tracee.h). System calls that the stop broke off are restarted. If we die in between, the kernel lets all threads go.
 */
#ifndef HI_STANDSTILL_H
#define HI_STANDSTILL_H

#include <stddef.h>

#include "tracee.h"

struct standstill {
	struct tracee *tracee; /* each TRACEE_STOPPED */
	size_t count;
	uint64_t since_ns; /* CLOCK_MONOTONIC: when the first was stopped */
};

/*
 * -EAGAIN: not all threads came to a stop in time (state D, a vfork parent, thread after thread born); none is held once this thread has ended. -ESRCH: the
 * target is gone.
 */
must_check int standstill_begin(struct standstill *standstill, pid_t pid, int deadline_ms);
/* Lets all of them go. out_held_ns: how long the first was held. The first error, after having done all it could. */
int standstill_end(struct standstill *standstill, uint64_t *out_held_ns);

/*
 * Runs work(context) while all threads stand still, in a tracing thread of its own: its result, or what standstill_begin says. out_held_ns is 0 if it was not
 * run.
 */
must_check int standstill_do(pid_t pid, int (*work)(void *), void *context, uint64_t *out_held_ns);

#endif
