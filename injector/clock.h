/* SPDX-License-Identifier: MIT */
/* clock.h - the time by which deadlines are kept: it neither jumps nor counts while the machine is suspended. */
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

#endif
