/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_own.h - memory that jemalloc has for itself: chains of large blocks with a head each,
 * one chain an arena. All descriptors of extents are in them, and the arenas.
 */
#ifndef HI_JEMALLOC_OWN_H
#define HI_JEMALLOC_OWN_H

#include "jemalloc_layout.h"

/* One block: what is used of it, after its head. */
struct jemalloc_own {
	remote_addr head, lo, hi, end;
	bool is_first; /* of its arena, which is in it */
};

/* Zero-initialized = empty. */
struct jemalloc_owns {
	struct jemalloc_own *own;
	size_t count, room;
};

/* All of which a descriptor is in use. 0, -ENOMEM, or an error of the memory. */
must_check int jemalloc_owns_find(struct jemalloc_owns *owns, struct heap_windows *windows,
				  const struct heap_slabs *slabs);
void jemalloc_owns_close(struct jemalloc_owns *owns);
const struct jemalloc_own *jemalloc_owns_at(const struct jemalloc_owns *owns, remote_addr at);

#endif
