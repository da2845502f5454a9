/* SPDX-License-Identifier: MIT */
/*
 * standstill.h - all threads of a target stopped at the same time. The one thing that needs it is to change words that running threads may be writing; it is over as soon as
 * they are changed.
 *
 * Both calls from one tracing thread (tracee.h). If we die in between, the kernel lets all of them go.
 */
#ifndef HI_STANDSTILL_H
#define HI_STANDSTILL_H

#include <stddef.h>

#include "tracee.h"

struct standstill {
	struct tracee *tracee; /* each TRACEE_STOPPED */
	size_t count;
	int64_t since_ns; /* CLOCK_MONOTONIC: when the first was stopped */
};

/* -EAGAIN: not all threads came to a stop in time (state D, a vfork parent, thread after thread born); none is held then. -ESRCH: the target is gone. */
must_check int standstill_begin(struct standstill *standstill, pid_t pid, int deadline_ms);
/* Lets all of them go. out_held_ns: how long the first was held. The first error, after having done all it could. */
int standstill_end(struct standstill *standstill, uint64_t *out_held_ns);

#endif
