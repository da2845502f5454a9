/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_layout.h - where jemalloc 5 has what: its map from pages to extents, and these.
 *
 * The map is found by its contents in the data of the object, whose names are hidden or stripped: a
 * table with a word for each region of addresses, zero but for those where memory is mapped.
 * Memory is extents of whole pages: one block, or a slab of blocks of one size, or free. Each has a
 * descriptor, whose fields differ by version; which version it is follows from what agrees with the
 * map, which has some of the same.
 */
#ifndef HI_JEMALLOC_LAYOUT_H
#define HI_JEMALLOC_LAYOUT_H

#include "heap_slabs.h"
#include "image_data.h"
#include "jemalloc_extent.h"

struct jemalloc_layout {
	struct jemalloc_form form;
	uint64_t *root; /* owned: the map's table */
	unsigned root_bits, leaf_bits;
};

/*
 * 0; -EPROTO: refusal (HEAP_TEXT_MAX bytes) says why it is not understood. Other errors are -ENOMEM
 * or those of the memory. Close layout in any case.
 */
must_check int jemalloc_layout_find(struct heap_windows *windows, const struct image_data *data,
				    struct jemalloc_layout *layout, char *refusal);
void jemalloc_layout_close(struct jemalloc_layout *layout);

struct jemalloc_map {
	struct heap_map map; /* its slabs are extents, with their size class as tag */
	const struct jemalloc_layout *layout;
	bool has_huge_pages; /* extents of their allocator were seen */
};

/* map, layout and windows stay in use, where they are. */
void jemalloc_map_open(struct jemalloc_map *map, struct heap_windows *windows,
		       const struct jemalloc_layout *layout);

#endif
