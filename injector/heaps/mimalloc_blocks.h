/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_blocks.h - which blocks of a page are free.
 *
 * A page lists its free blocks: those to be given out, those that its own thread has freed, and
 * those that others have. A block's first word is the link to the next one. All other blocks up to
 * the page's capacity are in use, but for those that other threads have freed and only told the
 * heap of the page about: the heap lists these.
 */
#ifndef HI_MIMALLOC_BLOCKS_H
#define HI_MIMALLOC_BLOCKS_H

#include "mimalloc_table.h"

/* Blocks that other threads have freed, and that only heaps list: by address. */
struct mimalloc_delayed {
	remote_addr *heap; /* that were looked at */
	size_t heap_count, heap_room;
	remote_addr *block;
	size_t count, room;
};

/* Adds those of a heap, once. 0, -ENOMEM, or an error of the memory. Sort it when all are there. */
must_check int mimalloc_delayed_add(struct mimalloc_delayed *delayed,
				    const struct heap_source *source,
				    const struct mimalloc_layout *layout, remote_addr heap);
void mimalloc_delayed_sort(struct mimalloc_delayed *delayed);
void mimalloc_delayed_close(struct mimalloc_delayed *delayed);

/* Which blocks of a page are free. Zero-initialized. */
struct mimalloc_blocks {
	struct heap_bytes bytes; /* of the page */
	uint64_t *free;          /* one bit for each block */
	size_t room;
	uint32_t free_count;
};

/*
 * 0. -EAGAIN: the lists make no sense, or do not agree with the page's counts. -ENOMEM, or an error
 * of the memory.
 */
must_check int mimalloc_blocks_read(struct mimalloc_blocks *blocks,
				    const struct heap_source *source,
				    const struct mimalloc_layout *layout,
				    const struct mimalloc_page *page,
				    const struct mimalloc_delayed *delayed);
void mimalloc_blocks_close(struct mimalloc_blocks *blocks);
/*
 * Bytes at the end of a block that were not asked for. Builds that check for overruns note them
 * there; 0 in others.
 */
uint32_t mimalloc_blocks_tail(const struct mimalloc_blocks *blocks,
			      const struct heap_source *source,
			      const struct mimalloc_layout *layout,
			      const struct mimalloc_page *page, uint32_t index);

static inline bool mimalloc_blocks_is_free(const struct mimalloc_blocks *blocks, uint32_t index)
{
	return blocks->free[index / 64] >> index % 64 & 1;
}

#endif
