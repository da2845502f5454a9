/* SPDX-License-Identifier: MIT */
/* clock.c - x86-64: the cycle counter, and what CPUID says of the CPU. */
#include "arch.h"

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

uint64_t arch_cycles(void)
{
	return __rdtsc();
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
