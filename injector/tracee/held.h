/* SPDX-License-Identifier: MIT */
/*
 * held.h - for how long threads of the target were held, over all that this process has done: each stop of each thread that tracee.c lets go of counts once,
 * whoever asked for it, so that no caller can forget one.
 *
 * A stop counts from the last moment at which the thread was seen to run: who waits for a CPU, or in vfork, before it comes to its stop is not held yet.
 */
#ifndef HI_HELD_H
#define HI_HELD_H

#include <stdint.h>

struct held {
	uint64_t count;
	uint64_t longest_ns, sum_ns; /* the sum over all threads: ten that stand together for a millisecond are ten milliseconds */
};

/* From any thread. */
void held_add(uint64_t ns);
struct held held_so_far(void);

#endif
