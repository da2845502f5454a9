/* SPDX-License-Identifier: MIT */
/*
 * heaps.h - all allocators of a process, each walked by the reader of its family.
 */
#ifndef HI_HEAPS_H
#define HI_HEAPS_H

#include "heap.h"
#include "target_allocators.h"

#define HEAPS_MAX (ALLOCATORS_MAX + 4u)

struct heaps {
	struct heap_found found[HEAPS_MAX];
	size_t count;
	size_t unused; /* allocators that have a reader, and were never used */
};

/*
 * Walks every allocator that is there and was used. One that cannot be read is among those found,
 * with its refusal. 0, or an error of the visitor or the memory; -ETIMEDOUT: not all was seen.
 */
must_check int heaps_walk(struct heap_source *source, const struct heap_visitor *visitor,
			  struct heaps *out_heaps);

#endif
