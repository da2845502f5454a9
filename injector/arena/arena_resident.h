/* SPDX-License-Identifier: MIT */
/*
 * arena_resident.h - how much of the arena is resident in the target. The kernel counts it as the
 * target's memory, and it rises while the payload learns stacks and fills rings: it must not be
 * taken for growth of the target.
 *
 * Counted page by page, as the kernel does for /proc/PID/status. A page or two of code outside of
 * the arena (near_pages.h) are left out; they do not grow.
 */
#ifndef HI_ARENA_RESIDENT_H
#define HI_ARENA_RESIDENT_H

#include "pages.h"

struct arena_resident {
	uint64_t anonymous; /* bytes, resident or swapped out, of private pages */
	uint64_t resident;  /* bytes of all pages, private and shared */
};

/*
 * Of an arena [lo, hi), through the pages of the target. All 0 where they cannot be read: what is
 * not known is not taken from any figure.
 */
void arena_resident_read(struct pages *pages, remote_addr lo, remote_addr hi,
			 struct arena_resident *out_resident);

#endif
