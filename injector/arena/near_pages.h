/* SPDX-License-Identifier: MIT */
/*
 * near_pages.h - pages of code that have to lie near the functions that they serve.
 *
 * A RELAY is a jump at a place that the bytes of a function determine (entries.h).
 *
 * An ISLAND serves functions from which no jump of ARCH_JUMP_BYTES reaches the gate: the gate lies
 * near one allocator, and a second one, of the program itself for example, may lie terabytes away.
 * A function has a cell in an island: a jump that reaches any address and leads to the function's
 * gate entry, and the function's exit, to which that entry leads. A function whose landing pad has
 * signed the return address has one wherever the gate lies, as that has to be taken back first
 * (arch_make_landed). From which the gate is in reach, that is in entries of the gate.
 *
 * All these pages are in one part of the arena, which shows at none of its own addresses but only
 * where they are needed. The control block names each before it is mapped.
 */
#ifndef HI_NEAR_PAGES_H
#define HI_NEAR_PAGES_H

#include "arena.h"

/*
 * Once the arena has its address: gives a cell to each function that does not reach the gate. Drops
 * those for which there is no place.
 */
void near_pages_plan(const struct hi_control *control, const struct memory *memory,
		     const struct maps *maps, struct entries *entries);
/*
 * Maps the pages, where nothing may be mapped yet. Functions whose place is taken are dropped.
 * Their contents come later: no thread jumps there before the function's entry is written.
 */
must_check int near_pages_map(struct arena *arena, struct remote *remote, struct entries *entries);

/* A function hooked at its entry, and its gate entry. */
struct near_function {
	const struct entry *entry;
	remote_addr gate;
};
/* Writes the contents of the pages to the arena's file. */
must_check int near_pages_fill(const struct arena *arena, const struct near_function *functions,
			       size_t count);
/* Where the gate entry of a function in an island leads to. */
static inline remote_addr near_pages_exit(const struct entry *entry)
{
	return entry->cell + ARCH_LANDED_BYTES + ARCH_FAR_JUMP_BYTES;
}

#endif
