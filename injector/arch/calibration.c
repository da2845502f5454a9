/* SPDX-License-Identifier: MIT */
/* calibration.c - the frequency of the cycle counter, whatever the CPU. */
#include <time.h>

#include "arch.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The thread may be interrupted between the two readings of the cycle counter around the clock
 * reading. The narrowest of some attempts was not interrupted.
 */
struct arch_moment arch_moment_now(void)
{
	struct arch_moment moment = {0};
	uint64_t narrowest = UINT64_MAX;

	for (int attempt = 0; attempt < 8; attempt++) {
		const uint64_t before = arch_cycles(), ns = now_ns(),
			       width = arch_cycles() - before;

		if (width < narrowest) {
			narrowest = width;
			moment = (struct arch_moment){.cycles = before + width / 2, .ns = ns};
		}
	}
	return moment;
}

/* minimum: clocks are read with an error of some tens of nanoseconds */
#define CALIBRATION_NS 20000000u

static struct arch_moment calibration_start;

void arch_cycles_calibrate(void)
{
	calibration_start = arch_moment_now();
}

/*
 * The time since the start of the calibration counts as waiting time, whatever the program did
 * meanwhile.
 */
uint64_t arch_cycles_per_second(void)
{
	static uint64_t cycles_per_second;

	if (cycles_per_second == 0) {
		struct arch_moment end;

		if (!calibration_start.ns)
			arch_cycles_calibrate();
		while ((end = arch_moment_now()).ns - calibration_start.ns < CALIBRATION_NS)
			nanosleep(&(struct timespec){.tv_nsec = (long)(calibration_start.ns +
								       CALIBRATION_NS - end.ns)},
				  NULL);
		cycles_per_second = (uint64_t)((double)(end.cycles - calibration_start.cycles) *
					       1e9 / (double)(end.ns - calibration_start.ns));
	}
	return cycles_per_second;
}
