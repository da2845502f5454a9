/* SPDX-License-Identifier: MIT */
/*
 * held.h - how long threads of the target were held, over the life of this process, or since it has
 * begun with another target. Each stop of each thread that tracee.c lets go of counts once, no
 * matter which code requested it, so that no caller can forget one.
 *
 * A stop counts from the last moment at which the thread was seen to run: a thread that waits for a
 * CPU, or in vfork, before it reaches its stop is not held yet.
 */
#ifndef HI_HELD_H
#define HI_HELD_H

#include <stdint.h>

struct held {
	uint64_t count;
	/* sum_ns: over all threads: ten threads stopped together for 1 ms are 10 ms */
	uint64_t longest_ns, sum_ns;
};

/* From any thread. */
void held_add(uint64_t ns);
struct held held_so_far(void);
/* Begins anew with another target, while no thread is held. */
void held_reset(void);

#endif
