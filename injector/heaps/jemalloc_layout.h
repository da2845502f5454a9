/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_layout.h - where jemalloc 5 has what: its map from pages to extents, and these.
 *
 * The map is found by its contents in the data of the object, whose names are hidden or stripped: a
 * table with a word for each gigabyte of addresses, zero but for those where memory is mapped.
 * Memory is extents of whole pages: one block, or a slab of blocks of one size, or free. Each has a
 * descriptor, whose fields differ by version; which version it is follows from what agrees with the
 * map, which has some of the same.
 */
#ifndef HI_JEMALLOC_LAYOUT_H
#define HI_JEMALLOC_LAYOUT_H

#include "heap_slabs.h"
#include "image_data.h"

#define JEMALLOC_PAGE_SHIFT 12u
#define JEMALLOC_SIZES 232u /* classes; blocks of the first ones are in slabs */
#define JEMALLOC_SLAB_SIZES 36u
#define JEMALLOC_ROOT_BITS 18u
#define JEMALLOC_LEAF_BITS 18u
#define JEMALLOC_BITMAP_WORDS 8u

enum jemalloc_state {
	JEMALLOC_ACTIVE,
	JEMALLOC_DIRTY, /* free, as it was left */
	JEMALLOC_MUZZY, /* free, and the kernel may take its pages */
	JEMALLOC_RETAINED,
	/* others: it is about to change */
};

struct jemalloc_version; /* where the fields of a descriptor are */

struct jemalloc_layout {
	const struct jemalloc_version *version;
	const char *name; /* of the allocator, with its versions */
	uint64_t *root;   /* owned: the map's table */
	uint64_t size[JEMALLOC_SIZES];
};

struct jemalloc_extent {
	remote_addr lo, hi;
	remote_addr block; /* if it is one: it may begin in the first page's middle */
	unsigned arena;
	unsigned state;
	unsigned size_class; /* JEMALLOC_SIZES: it is not in use */
	bool is_slab;
	bool is_of_huge_pages; /* of the allocator of huge pages, which is not understood */
	unsigned free;         /* blocks of a slab */
	uint64_t bitmap[JEMALLOC_BITMAP_WORDS]; /* of them, bit by bit */
};

/*
 * 0; -EPROTO: refusal (HEAP_TEXT_MAX bytes) says why it is not understood. Other errors are -ENOMEM
 * or those of the memory. Close layout in any case.
 */
must_check int jemalloc_layout_find(struct heap_windows *windows, const struct image_data *data,
				    struct jemalloc_layout *layout, char *refusal);
void jemalloc_layout_close(struct jemalloc_layout *layout);

/* 1; 0: there is no extent; else as heap_windows_read. */
must_check int jemalloc_extent_read(struct heap_windows *windows,
				    const struct jemalloc_layout *layout, remote_addr at,
				    struct jemalloc_extent *out_extent);
struct jemalloc_map {
	struct heap_map map; /* its slabs are extents, with their size class as tag */
	const struct jemalloc_layout *layout;
	bool has_huge_pages; /* extents of their allocator were seen */
};

/* map, layout and windows stay in use, where they are. */
void jemalloc_map_open(struct jemalloc_map *map, struct heap_windows *windows,
		       const struct jemalloc_layout *layout);

#endif
