/* SPDX-License-Identifier: MIT */
/* clock.c - x86-64: the cycle counter, and what CPUID says of the CPU. */
#include "arch.h"

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

uint64_t arch_cycles(void)
{
	return __rdtsc();
}

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

bool arch_cycles_agree(void)
{
	char source[32] = "";
	const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			    O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, source, sizeof(source) - 1);

	if (fd >= 0)
		close(fd);
	return got > 0 && strcmp(source, "tsc\n") == 0;
}

/* prefetchw: the first 64-bit CPUs of Intel do not even execute it as a nop. */
bool arch_has_write_prefetch(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx & bit_PRFCHW);
}

/* rdtscp: a hypervisor may forbid it, and then CPUID does not show it. */
bool arch_has_fast_clock(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (edx & 1u << 27);
}
