/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the clock for deadlines, which neither jumps nor counts while the machine is suspended;
 * and the CPU time that the injector itself used.
 */
#ifndef HI_CLOCK_H
#define HI_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns when that moment has come, whatever signals come before. */
static inline void clock_wait_until(uint64_t ns)
{
	const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u),
				       .tv_nsec = (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* CPU time of the calling thread, nanoseconds. */
static inline uint64_t clock_used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

#endif
