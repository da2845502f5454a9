/* SPDX-License-Identifier: MIT */
/*
 * heap_slabs.h - the whole pages of an allocator that has a map from pages to descriptors: slabs of
 * blocks of one size, single blocks, and free runs of pages; and a mark for each block that is in
 * some cache.
 *
 * The map, a radix tree with two levels, is walked from slab to slab. It changes meanwhile: where
 * it leads to what is no slab, it is read again, and what still is none is a slab of which nothing
 * is known. A reader walks it twice: first for a table of the slabs, in which blocks of caches are
 * marked, then for the blocks themselves.
 */
#ifndef HI_HEAP_SLABS_H
#define HI_HEAP_SLABS_H

#include "heap_windows.h"

#define HEAP_WORD 8u

struct heap_slab {
	remote_addr lo, hi;
	remote_addr descriptor; /* 0: it is not known what it is */
	remote_addr block;      /* its first one */
	uint64_t first;         /* number of that, counted over all slabs */
	uint64_t block_bytes;
	uint32_t blocks; /* 0: free pages */
	uint16_t tag;    /* of the reader: equal for blocks that the same caches have */
};

/* A range of memory. */
struct heap_range {
	remote_addr lo, hi;
};

/* Zero-initialized = empty. */
struct heap_slabs {
	struct heap_slab *slab; /* sorted */
	size_t count, room;
	uint64_t blocks; /* of all slabs together */
	uint8_t *marks;  /* two bits a block: enum heap_mark */
	/* memory of the allocator's own */
	struct heap_range *own;
	size_t own_count, own_room;
	uint64_t reread;
};

enum heap_mark {
	HEAP_NO_MARK,
	HEAP_MARK_CACHED,
	HEAP_MARK_UNSURE,
	HEAP_MARK_OWN, /* the allocator has taken it for itself */
};

struct heap_map {
	struct heap_windows *windows;
	const uint64_t *root; /* as it is in memory */
	unsigned root_bits, leaf_bits, page_shift;
	/*
	 * Fills in the slab that begins at this page, by the page's word in a leaf, but for its
	 * first number. 1; 0: that is no slab; -ENOENT: the word says that there is nothing; else
	 * an error.
	 */
	int (*describe)(void *context, uint64_t word, uint64_t page, struct heap_slab *out_slab);
	void *context;
};

typedef int heap_slab_visit(void *context, const struct heap_slab *slab);
/*
 * Calls visit for each slab, by rising address. *reread: is raised by what was read again. 0,
 * -ETIMEDOUT, the first error of visit, or one of the memory.
 */
must_check int heap_map_walk(const struct heap_map *map, uint64_t *reread, heap_slab_visit *visit,
			     void *context);

/* 0, -ENOMEM, -ETIMEDOUT, or an error of the memory. Close it in any case. */
must_check int heap_slabs_read(struct heap_slabs *slabs, const struct heap_map *map);
void heap_slabs_close(struct heap_slabs *slabs);

/* The slab that has this address, or NULL. */
const struct heap_slab *heap_slabs_find(const struct heap_slabs *slabs, remote_addr at);
#define HEAP_NO_BLOCK UINT64_MAX
/* The number of the block that has this address. */
uint64_t heap_slabs_block_with(const struct heap_slabs *slabs, remote_addr at);
/* The number of the block that begins here, if it can be one with this tag. */
uint64_t heap_slabs_block(const struct heap_slabs *slabs, remote_addr at, unsigned tag);

static inline enum heap_mark heap_slabs_mark_of(const struct heap_slabs *slabs, uint64_t block)
{
	return (enum heap_mark)(slabs->marks[block / 4] >> block % 4 * 2 & 3);
}
/* A block that has a mark keeps it. */
static inline void heap_slabs_mark(struct heap_slabs *slabs, uint64_t block, enum heap_mark mark)
{
	if (heap_slabs_mark_of(slabs, block) == HEAP_NO_MARK)
		slabs->marks[block / 4] |= (uint8_t)((unsigned)mark << block % 4 * 2);
}
/* The number of the first block of a slab that is still as it is in the table. */
uint64_t heap_slabs_first(const struct heap_slabs *slabs, const struct heap_slab *slab);
/* What a block is that is not free, by its mark. first: as heap_slabs_first says. */
enum heap_kind heap_slabs_kind(const struct heap_slabs *slabs, uint64_t first, uint64_t index);

/* Adds a range of the allocator's own. 0 or -ENOMEM. */
must_check int heap_slabs_add_own(struct heap_slabs *slabs, remote_addr lo, remote_addr hi);
/* Drops what overlaps a slab, sorts the rest, and joins what overlaps or is not far apart. */
void heap_slabs_sort_own(struct heap_slabs *slabs);

#endif
