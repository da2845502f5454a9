/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_caches.h - blocks that jemalloc keeps for threads, and for caches that a program made.
 *
 * A cache is an array of stacks of blocks, one for each size class. Each arena has its caches in a
 * ring; that leads to them, and is found by its contents in the memory that the arena is in.
 */
#ifndef HI_JEMALLOC_CACHES_H
#define HI_JEMALLOC_CACHES_H

#include "jemalloc_own.h"

/*
 * Marks all their blocks, and those that jemalloc has taken for the stacks. slab_sizes: as in the
 * layout. *out_caches: how many caches there are. 0, -ENOMEM, -ETIMEDOUT, or an error of the
 * memory.
 */
must_check int jemalloc_caches_mark(struct heap_slabs *slabs, struct heap_windows *windows,
				    const struct jemalloc_owns *owns, unsigned slab_sizes,
				    size_t *out_caches);

#endif
