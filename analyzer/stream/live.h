/* SPDX-License-Identifier: MIT */
/*
 * live.h - the sampled blocks that are live now, by address, and the blocks that were freed last. A
 * free can be undone: a realloc that fails has freed nothing after all.
 *
 * Zero-initialized = empty.
 */
#ifndef HI_LIVE_H
#define HI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many of the last frees can be undone. The record that undoes a free follows while the freeing
 * call still runs, so only records of other threads come between.
 */
#define LIVE_RECENT 1024u

/*
 * Half a cache line: among millions of blocks, finding one costs as much as fetching its cache
 * line.
 */
struct live_block {
	uint64_t address; /* 0 = empty: no block lies there */
	uint64_t bytes;
	uint64_t born_ns;
	uint32_t part; /* index of the part (thread_breakdown.h), which also gives the row */
	uint32_t slack;
};
struct live_freed {
	struct live_block block;
	uint64_t freed_ns;
};
/*
 * How many slots are moved for each block that is added, while the table grows. With 2 a table is
 * moved when the next one is half full.
 */
#define LIVE_STEP 16u
struct live_table {
	struct live_block *block; /* each element is aligned to its own size */
	size_t size;              /* a power of two, or 0 */
	unsigned shift;           /* of the hash, so that the home slot is below size */
};
struct live {
	struct live_table table;
	/*
	 * While the table grows: the one before it, of which the slots from `begin` on, round and
	 * round, have been moved, `done` of them, and are empty
	 */
	struct live_table old;
	size_t begin, done;
	size_t moved; /* how many blocks have been moved by growing, ever */
	size_t count;
	struct live_freed recent[LIVE_RECENT]; /* ring of freed blocks */
	size_t recent_next;
};

/*
 * The slot of the block at this address, or the free slot for it, in which address is 0. The caller
 * fills in a free slot, and increments count. NULL = out of memory. Valid until the next call.
 */
struct live_block *live_place(struct live *live, uint64_t address);
bool live_has(const struct live *live, uint64_t address);
/* The block at this address; NULL = none is live there. Valid until the next call. */
const struct live_block *live_find(const struct live *live, uint64_t address);
/*
 * Removes the block, and remembers it for live_put_back(). False: no block is live at this address.
 */
bool live_take(struct live *live, uint64_t address, uint64_t freed_ns,
	       struct live_block *out_block);
/* Remembers the free of a block that was never added, because its free was known when it came. */
void live_pass(struct live *live, const struct live_block *block, uint64_t freed_ns);
/* Removes the block, and does not remember it. */
bool live_drop(struct live *live, uint64_t address, struct live_block *out_block);
/*
 * Finds the block that was last freed at this address, and forgets its free. The caller adds the
 * block again. False: no such free is known, or it is too long ago.
 */
bool live_put_back(struct live *live, uint64_t address, struct live_freed *out_freed);
/*
 * The address space around the live blocks, in bytes: the pieces of `piece` bytes (a power of two)
 * in which a block begins, or that a block covers. Each piece counts once, except those that large
 * blocks cover. 0: there are no blocks, or there is no memory to sort them.
 */
uint64_t live_spread(const struct live *live, uint64_t piece);
/*
 * All blocks, in no order: the next one from *at on, which begins as 0; NULL = there is none any
 * more. Nothing may be added or removed in between.
 */
const struct live_block *live_next(const struct live *live, size_t *at);
/* Prefetches the slot of an address that is asked for soon. */
void live_prefetch(const struct live *live, uint64_t address);
/* The part of the block at this address, if the block is in its home slot; UINT32_MAX = unknown. */
uint32_t live_hint(const struct live *live, uint64_t address);
void live_close(struct live *live);

#endif
