/* SPDX-License-Identifier: MIT */
/*
 * live.h - the sampled blocks that are live now, by address, and the last few that were freed: a realloc that fails has freed nothing after all.
 *
 * Zero-initialized = empty.
 */
#ifndef HI_LIVE_H
#define HI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back a free can be undone: the record that undoes it follows while the freeing call still runs, only other threads' come between. */
#define LIVE_RECENT 1024u

/* Half a cache line: where there are millions, to find one costs as much as to fetch its line. */
struct live_block {
	uint64_t address; /* 0 = empty: no block lies there */
	uint64_t bytes;
	uint64_t born_ns;
	uint32_t part; /* of thread_breakdown.h, and through it the row */
	uint32_t slack;
};
struct live_freed {
	struct live_block block;
	uint64_t freed_ns;
};
struct live {
	struct live_block *block; /* on a border of its own size */
	size_t size;              /* a power of two, or 0 */
	unsigned shift;           /* of the hash, so that the home is below size */
	size_t count;
	struct live_freed recent[LIVE_RECENT]; /* ring of freed blocks */
	size_t recent_next;
};

/*
 * Where the block of that address is, or where it goes: the caller fills it in, and counts it, if its address is 0 there. NULL: no memory. Valid until the next
 * call.
 */
struct live_block *live_place(struct live *live, uint64_t address);
bool live_has(const struct live *live, uint64_t address);
/* Takes the block out, for good unless live_put_back() follows. False: none is live there. */
bool live_take(struct live *live, uint64_t address, uint64_t freed_ns, struct live_block *out_block);
/* The same for a block that lies nowhere, as its free was known when it came. */
void live_pass(struct live *live, const struct live_block *block, uint64_t freed_ns);
/* Takes the block out as if it had never been. */
bool live_drop(struct live *live, uint64_t address, struct live_block *out_block);
/* Finds the block that was last freed at this address, and forgets that it was. The caller adds it again. False: not known, or too long ago. */
bool live_put_back(struct live *live, uint64_t address, struct live_freed *out_freed);
/*
 * Of the address space, so much lies in pieces (of a power of two bytes) in which a block begins, or that a block covers; each piece counts once but for those
 * of large blocks. 0: there are no blocks, or there is no memory to sort them.
 */
uint64_t live_spread(const struct live *live, uint64_t piece);
/* That address will be asked for soon. */
void live_prefetch(const struct live *live, uint64_t address);
/* The part that its block is of, as far as one look can tell; UINT32_MAX = unknown. */
uint32_t live_hint(const struct live *live, uint64_t address);
void live_close(struct live *live);

#endif
