/* SPDX-License-Identifier: MIT */
/*
 * heap_growth.h - how much of the process's growth is in use, and how much the allocator retains,
 * by the allocator's own count: what the first and the last look at the heap say.
 */
#ifndef HI_HEAP_GROWTH_H
#define HI_HEAP_GROWTH_H

#include "profile.h"

struct heap_growth {
	/* the last look; NULL: there is none, or its figures must not be stated */
	const struct heap_moment *now;
	/*
	 * The process grew from the first look to the last, and both may be stated. Changes in
	 * bytes, resident or swapped out.
	 */
	bool has_grown;
	double seconds;
	double anonymous; /* of the process */
	double used;      /* of it in blocks in use */
	double kept;      /* freed, and retained by the allocator */
	double own;       /* the allocator's own */
	bool is_retained; /* most of the growth is kept, and little of it used */
};

/*
 * How fast the blocks in use grow, by the allocators' own count of their usable bytes: whether they
 * were touched, and what the process had free before, makes no difference to it.
 */
struct heap_use {
	bool is_known;
	double slope, low, high; /* bytes per second, and its 95 % interval */
	double bytes;            /* from the first look to the last */
};

void heap_growth_of(const struct profile_meta *meta, struct heap_growth *out_growth);
/* Not known: too few looks, or none of all allocators that were hooked. Returns 0 or -ENOMEM. */
int heap_use_of(const struct profile_meta *meta, struct heap_use *out_use);
/* Freed, and kept by the allocator. */
double heap_growth_kept(const struct heap_moment *moment);
/* Whether the allocator keeps so much that it matters. */
bool heap_growth_keeps_much(const struct heap_moment *moment);
/* Whether it is fragmentation: a trim would give little of it back. */
bool heap_growth_is_fragmented(const struct heap_moment *moment);

#endif
