/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the clock for deadlines, which neither jumps nor counts while the machine is suspended;
 * and the CPU time that the injector itself used.
 */
#ifndef HI_CLOCK_H
#define HI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CPU time of the calling thread, nanoseconds. */
static inline uint64_t clock_used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

#endif
