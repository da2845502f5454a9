/* SPDX-License-Identifier: MIT */
/* clock.c - aarch64: the counter of the generic timer. */
#include "arch.h"

uint64_t arch_cycles(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/*
 * The counters agree, but tick as seldom as every 42 ns, so that two records may have the same
 * time; and stores become visible in any order. One ring needs neither: its records lie in their
 * order (hi_wire.h).
 */
bool arch_cycles_agree(void)
{
	return false;
}

/* prfm pstl1keep is on every CPU. */
bool arch_has_write_prefetch(void)
{
	return true;
}

bool arch_has_fast_clock(void)
{
	return false;
}
