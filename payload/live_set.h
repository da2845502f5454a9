/* SPDX-License-Identifier: MIT */
/*
 * live_set.h - the addresses of sampled blocks that are still allocated, so that their freeing is noticed and nobody else's.
 *
 * Hash tables of buckets of HI_BUCKET_ENTRIES addresses, each four times the size of the one above it. An address lies in one of HI_BUCKET_PROBES buckets side
 * by side, on the first level that had room for it. So a small set stays in a small table, which fits the caches, and a large one needs no rehash: its memory
 * is reserved from the beginning, and touched when it is used. A level is looked into once something has been put there (levels_used).
 *
 * Where every block is a sample, and nobody has set a bound to their number, no set is kept: it would say yes to whatever it is asked. bucket_levels is 0 then.
 *
 * In front of them is one occupancy byte for each of 2^occupancy_bits homes, which is all that the gate looks at. Invariant: while an address is in the set,
 * the occupancy of its home is not zero. So it rises before the address goes in and falls after it is out. At 255 it sticks for good, which costs a visit to
 * the hook and nothing else; where every block is a sample the injector sets all bytes to that, as they could tell nothing.
 *
 * Lock-free, every loop bounded, safe in signal handlers. An address is inserted by the thread to which the allocator just gave it and before anybody else
 * can know it, and taken out by the thread that frees it; so operations on one address never race with each other, but where the application frees twice. An
 * entry that holds an address is written by nobody else: to take it out is a store. (Where two threads free one block at once, both may take it out, and the
 * later of them another block that came there in between: its free goes unseen.)
 */
#ifndef PAYLOAD_LIVE_SET_H
#define PAYLOAD_LIVE_SET_H

#include <stdbool.h>

#include "hi_wire.h"

/* The same for a set that is kept. */
void live_set_ask(const struct hi_state *state, uint64_t address);
bool live_set_add(struct hi_state *state, uint64_t address);
bool live_set_take(const struct hi_state *state, uint64_t address);

static inline bool live_set_is_kept(const struct hi_state *state)
{
	return state->bucket_levels;
}

/* To be called as soon as an address is known: the places where it will be looked for lie in memory that no cache holds, once the set is large. */
static inline void live_set_prefetch(const struct hi_state *state, uint64_t address)
{
	if (live_set_is_kept(state))
		live_set_ask(state, address);
}

/* False: no room on any level. True, too, if the address was in already: its free went past us. */
static inline bool live_set_insert(struct hi_state *state, uint64_t address)
{
	return !live_set_is_kept(state) || live_set_add(state, address);
}

/* True: it was in, and the caller is the one who took it out; or no set is kept. */
static inline bool live_set_remove(const struct hi_state *state, uint64_t address)
{
	return !live_set_is_kept(state) || live_set_take(state, address);
}

#endif
