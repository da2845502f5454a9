/* SPDX-License-Identifier: MIT */
/* tcmalloc_map.c - see tcmalloc_map.h. */
#include "tcmalloc_map.h"

#include <errno.h>

/* Can it be a span? Of the free ones only what all have is known. */
static bool is_valid(const struct tcmalloc_layout *layout,
		     const struct tcmalloc_descriptor *descriptor)
{
	const unsigned location = descriptor->flags & TCMALLOC_LOCATION;
	const uint64_t most = 1ull << (TCMALLOC_ADDRESS_BITS - layout->page_shift);

	return descriptor->page < most && descriptor->pages &&
	       descriptor->pages <= most - descriptor->page && location <= TCMALLOC_RETURNED &&
	       (location != TCMALLOC_IN_USE || !descriptor->size_class ||
		(descriptor->size_class < layout->class_count &&
		 descriptor->pages == layout->pages[descriptor->size_class]));
}

static int describe(void *context, uint64_t word, uint64_t page, struct heap_slab *out_slab)
{
	const struct tcmalloc_map *map = context;
	const struct tcmalloc_layout *layout = map->layout;
	struct tcmalloc_descriptor descriptor;
	const int err = word % HEAP_WORD
				? -ENODATA
				: tcmalloc_descriptor_read(map->map.windows, word, &descriptor);

	if (err || descriptor.page != page || !is_valid(layout, &descriptor))
		return err;
	*out_slab = (struct heap_slab){
		.lo = page << layout->page_shift,
		.hi = (page + descriptor.pages) << layout->page_shift,
		.descriptor = word,
	};
	if ((descriptor.flags & TCMALLOC_LOCATION) == TCMALLOC_IN_USE) {
		const uint64_t bytes = out_slab->hi - out_slab->lo;

		out_slab->block = out_slab->lo;
		out_slab->tag = descriptor.size_class;
		out_slab->block_bytes = out_slab->tag ? layout->size[out_slab->tag] : bytes;
		out_slab->blocks = (uint32_t)(bytes / out_slab->block_bytes);
	}
	return 1;
}

void tcmalloc_map_open(struct tcmalloc_map *map, struct heap_windows *windows,
		       const struct tcmalloc_layout *layout)
{
	map->layout = layout;
	map->map = (struct heap_map){
		.windows = windows,
		.root = layout->root,
		.root_bits = layout->root_bits,
		.leaf_bits = layout->leaf_bits,
		.page_shift = layout->page_shift,
		.describe = describe,
		.context = map,
	};
}

int tcmalloc_map_spans(const struct tcmalloc_map *map, struct heap_slabs *slabs)
{
	const struct tcmalloc_layout *layout = map->layout;
	int err = heap_slabs_read(slabs, &map->map);

	for (uint64_t i = 0; i < 1ull << layout->root_bits && !err; i++)
		if (layout->root[i])
			err = heap_slabs_add_own(slabs, layout->root[i],
						 layout->root[i] +
							 (HEAP_WORD << layout->leaf_bits));
	for (size_t i = 0; i < slabs->count && !err; i++) {
		const remote_addr at = slabs->slab[i].descriptor;

		if (at)
			err = heap_slabs_add_own(slabs, at, at + TCMALLOC_DESCRIPTOR_BYTES);
	}
	return err;
}
