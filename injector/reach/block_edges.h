/* SPDX-License-Identifier: MIT */
/*
 * block_edges.h - which blocks a block refers to, noted while blocks are looked through in the
 * order of their addresses, so that none need be read again. Room is bounded: from some block on
 * nothing is noted.
 */
#ifndef HI_BLOCK_EDGES_H
#define HI_BLOCK_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Edges for each block, on average, and so many for all. */
#define BLOCK_EDGES_EACH 4u
#define BLOCK_EDGES_LEAST (64u << 10)

/* Zero-initialized: nothing is noted, and nothing can be. */
struct block_edges {
	uint32_t *to;
	size_t count, room, most;
	uint32_t *begin; /* by block: its first edge; begin[blocks] is where the next one's begin */
	uint32_t blocks; /* that were noted, from block 0 on */
	bool is_full;
};

/* Without memory it is empty and full. */
void block_edges_open(struct block_edges *edges, uint32_t blocks);
void block_edges_close(struct block_edges *edges);
/* Of the next block, which is number edges->blocks. After the last of its edges it ends. */
void block_edges_add(struct block_edges *edges, uint32_t to);
void block_edges_end_block(struct block_edges *edges);
/* False: nothing was noted of this block. */
static inline bool block_edges_has(const struct block_edges *edges, uint32_t block)
{
	return block < edges->blocks;
}

#endif
