/* SPDX-License-Identifier: MIT */
/*
 * heal.h - copies of gate addresses that the target made while we were attached (`ops->free = free`), found in its memory and turned back into the originals.
 *
 * Reads every resident page of private writable memory; pages never touched are not touched by us either. Nothing is stopped, so one pass proves nothing alone: callers
 * repeat until a pass finds none.
 */
#ifndef HI_HEAL_H
#define HI_HEAL_H

#include "hi_wire.h"
#include "procfs.h"

struct heal_target {
	pid_t pid;
	const struct memory *memory;
	remote_addr gate; /* first entry */
	unsigned gate_count;
	remote_addr original[HI_GATE_ENTRIES];
	remote_addr skip_lo, skip_hi; /* the arena: our own words are no escaped copies */
};

/* One pass. out_healed: words that held a gate address, and hold the original now. */
must_check int heal_pass(const struct heal_target *target, size_t *out_healed);

#endif
