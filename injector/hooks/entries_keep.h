/* SPDX-License-Identifier: MIT */
/*
 * entries_keep.h - which of the functions that can be hooked at their entry are, as the gate has
 * room for only so many, and only so much code can be replaced.
 */
#ifndef HI_ENTRIES_KEEP_H
#define HI_ENTRIES_KEEP_H

#include "entries.h"

/* Code to replace: whole pages, at most one range for each mapping. */
struct code_ranges {
	struct code_range {
		const struct mapping *mapping; /* NULL = unused, as all that follow */
		remote_addr lo, hi;
	} range[HI_CODE_RANGES_MAX];
	uint64_t bytes; /* of all */
};

/*
 * Functions that may have an entry of the gate. The last entry has another use; where landing pads
 * sign, some before that have the cells of functions (near_pages.h).
 */
#define ENTRIES_GATE_MAX (HI_GATE_RESTORE - (ARCH_LANDED_BYTES ? 12u : 0))

/*
 * Drops functions for which the gate has no room, or that lie too far from those before them. The
 * first allocator's come first. True: some were dropped. out_ranges: of those that are left.
 */
bool entries_keep(const struct allocators *allocators, const struct maps *maps,
		  struct entries *entries, struct code_ranges *out_ranges);

#endif
