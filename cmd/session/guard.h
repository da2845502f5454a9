/* SPDX-License-Identifier: MIT */
/*
 * guard.h - `heapinject guard`: sessions that write profiles before the kernel kills a process for
 * its memory. What a session does is in session_limit.h; here is when it begins, of which process,
 * and what comes after it.
 */
#ifndef HI_GUARD_H
#define HI_GUARD_H

#include <stdint.h>

#include "session.h"

struct guard_options {
	uint32_t from_ppm; /* share of the limit from which on it attaches; 0 = at once */
	/* instead of a pid: whose process with the most memory, one after the other; NULL = none */
	const char *cgroup, *unit;
};

/*
 * options->triggers.limit is set; pid is, unless there is a cgroup or a unit. Prints its messages
 * and returns an exit code of hi_exit.h.
 */
int guard_run(const struct guard_options *guard, struct session_options *options);

#endif
