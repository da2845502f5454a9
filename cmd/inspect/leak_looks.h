/* SPDX-License-Identifier: MIT */
/*
 * leak_looks.h - how often a process is searched for what it has leaked.
 *
 * Two searches that find the same are enough of a process that is at rest. One that moves pointers
 * while it is searched hides some blocks from each search, fewer from all of them together: once a
 * search has found fewer, two in a row must have found the same.
 */
#ifndef HI_LEAK_LOOKS_H
#define HI_LEAK_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define LEAK_LOOKS_MAX 8u

/* Zero-initialized: none yet. */
struct leak_looks {
	unsigned count;
	unsigned same; /* the last ones, which took nothing away */
	bool is_busy;  /* an earlier one did */
};

/* left: the blocks that no look has reached so far, and how many they were before this one. */
static inline void leak_looks_add(struct leak_looks *looks, size_t before, size_t left)
{
	if (looks->count++)
		looks->same = left < before ? 0 : looks->same + 1;
	looks->is_busy |= looks->count > 1 && left < before;
}

static inline bool leak_looks_suffice(const struct leak_looks *looks, size_t left)
{
	return looks->count > 1 &&
	       (!left || looks->count >= LEAK_LOOKS_MAX || looks->same >= (looks->is_busy ? 2 : 1));
}

/* It moved pointers until the last look: what is left may be in use. */
static inline bool leak_looks_are_unsettled(const struct leak_looks *looks, size_t left)
{
	return looks->is_busy && left && looks->same < 2;
}

#endif
