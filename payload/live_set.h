/* SPDX-License-Identifier: MIT */
/*
 * live_set.h - the addresses of sampled blocks that are still allocated, so that only the frees of
 * sampled blocks are recorded.
 *
 * The set is a series of hash tables (levels) of buckets of HI_BUCKET_ENTRIES addresses. Each level
 * is four times the size of the one above it. An address lies in one of HI_BUCKET_PROBES adjacent
 * buckets, on the first level that had room for it. So a small set stays in a small table, which
 * fits the caches, and a large set needs no rehash: its memory is reserved from the beginning, and
 * touched when it is used. A level is searched only once an address has been put there
 * (levels_used).
 *
 * If every block is a sample and the number of blocks has no bound, no set is kept, as it would
 * answer "yes" for every block. bucket_levels is then 0.
 *
 * In front of the levels is one occupancy byte for each of 2^occupancy_bits homes (two, where there
 * are sentinels: hi_state.unasked_occupancy). The gate looks only at these bytes. Invariant: while
 * an address is in the set, the occupancy of its home is not zero. So the byte rises before the
 * address goes in, and falls after the address is out. At 255 it stays for good, which costs calls
 * of the hook and nothing else. If every block is a sample, the injector sets all bytes to 255, as
 * they could distinguish nothing.
 *
 * Lock-free, every loop bounded, safe in signal handlers. The thread that the allocator has just
 * given an address to inserts it, before any other thread can know it. The thread that frees the
 * block removes it. So operations on one address never race with each other, unless the application
 * frees a block twice. No other thread writes an entry that holds an address, so removal is a plain
 * store. (If two threads free one block at once, both may remove it, and the later one may remove
 * another block that was put there in between. The free of that other block is then not recorded.)
 */
#ifndef PAYLOAD_LIVE_SET_H
#define PAYLOAD_LIVE_SET_H

#include <stdbool.h>

#include "hi_wire.h"

/* The implementations of the functions below, for a set that is kept. */
void live_set_ask(const struct hi_state *state, uint64_t address);
bool live_set_add(struct hi_state *state, uint64_t address);
bool live_set_take(const struct hi_state *state, uint64_t address);

static inline bool live_set_is_kept(const struct hi_state *state)
{
	return state->bucket_levels;
}

/*
 * To be called as soon as an address is known: prefetches the buckets in which it will be looked
 * up. Once the set is large, no cache holds them.
 */
static inline void live_set_prefetch(const struct hi_state *state, uint64_t address)
{
	if (live_set_is_kept(state))
		live_set_ask(state, address);
}

/*
 * False: no room on any level. Also true if the address was in the set already, because its free
 * did not pass the hooks.
 */
static inline bool live_set_insert(struct hi_state *state, uint64_t address)
{
	return !live_set_is_kept(state) || live_set_add(state, address);
}

/* True: the address was in the set, and this call removed it; or no set is kept. */
static inline bool live_set_remove(const struct hi_state *state, uint64_t address)
{
	return !live_set_is_kept(state) || live_set_take(state, address);
}

/* Takes the count that belongs to no sample away from the home of this address (struct
 * hi_unsampled_frees). */
void live_set_take_sentinel(const struct hi_state *state, uint64_t address);

#endif
