/* SPDX-License-Identifier: MIT */
/*
 * pool_blocks.h - the sampled blocks of pools and arenas that are live now, by address and by the
 * pool that each lies in. When a pool goes, so do all blocks in it. A block may itself be a pool
 * (talloc): then what lies in it goes, too.
 *
 * Zero-initialized = empty. Not by live.h, as these blocks lie in blocks of an allocator, perhaps
 * at the very same address.
 */
#ifndef HI_POOL_BLOCKS_H
#define HI_POOL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of the last frees can be undone: as of live.h. */
#define POOL_BLOCKS_RECENT 256u

struct pool_block {
	uint64_t address, bytes, born_ns;
	uint64_t pool; /* address of what it lies in; 0 = not known, or in none */
	uint32_t row;
	uint32_t next_at,
		next_in; /* the next of both chains, or of the unused ones; + 1, 0 = none */
};
struct pool_freed {
	struct pool_block block; /* of address 0: none */
	uint64_t freed_ns;
};
struct pool_blocks {
	struct pool_block *block;
	size_t block_count, capacity; /* unused ones are among them */
	size_t count;                 /* live */
	uint32_t unused;
	/* heads of chains, by hashes of addresses and of pools: 1 << bits of each */
	uint32_t *at, *in;
	unsigned bits;
	struct pool_freed recent[POOL_BLOCKS_RECENT];
	size_t recent_next;
};

/* Adds a block; none may be live at its address. 0 or -ENOMEM. */
int pool_blocks_add(struct pool_blocks *blocks, const struct pool_block *block);
/* Removes the block, and remembers it. False: none is live there. */
bool pool_blocks_take(struct pool_blocks *blocks, uint64_t address, uint64_t freed_ns,
		      struct pool_block *out_block);
/* Finds the block that was freed last at the address, and forgets its free. The caller adds it. */
bool pool_blocks_put_back(struct pool_blocks *blocks, uint64_t address,
			  struct pool_freed *out_freed);
/* The block at the address lies in this pool. */
void pool_blocks_put_in(struct pool_blocks *blocks, uint64_t address, uint64_t pool);
/* What lies in one pool lies in another one from now on. */
void pool_blocks_move(struct pool_blocks *blocks, uint64_t from, uint64_t to);
/*
 * Removes the block at this address, all blocks that lie in it, and all that lie in these. Shows
 * each one to visit, which must not change the set.
 */
typedef void pool_block_visit(void *context, const struct pool_block *block);
void pool_blocks_drop(struct pool_blocks *blocks, uint64_t pool, pool_block_visit *visit,
		      void *context);
void pool_blocks_close(struct pool_blocks *blocks);

#endif
