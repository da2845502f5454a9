/* SPDX-License-Identifier: MIT */
/* clock.h - the time by which deadlines are kept: it neither jumps nor counts while the machine is suspended; and the time that we ourselves used up. */
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

/* Of the calling thread on a CPU, nanoseconds. */
static inline uint64_t clock_used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

#endif
