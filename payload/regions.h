/* SPDX-License-Identifier: MIT */
/*
 * regions.h - the region that holds a stack, in the list that the injector publishes; and the end
 * of the current stack, if it is the same stack that the thread was on at the last walk (struct
 * hi_scratch, hi_wire.h).
 */
#ifndef PAYLOAD_REGIONS_H
#define PAYLOAD_REGIONS_H

#include <stdbool.h>

#include "published.h"

struct region {
	uint64_t lo, hi;
	uint64_t stamp; /* of the list in which it was found */
};

/* Searches the current list. False: no region is known to hold sp. */
bool regions_find(const struct hi_state *state, uint64_t sp, struct region *out_region);

/*
 * Whether both addresses lie on the thread's own stack, between the lowest address of its region
 * and its control block, or the end of the main stack. From sp on all of that is mapped.
 */
bool regions_are_on_own_stack(const struct hi_state *state, uint64_t thread, uint64_t sp,
			      uint64_t other);

/* The stamp of the list of regions that is current now. */
static inline uint64_t regions_stamp(const struct hi_control *control)
{
	uint32_t index = __atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE) & 1;

	return published_stamp(
		__atomic_load_n(&control->regions[index].generation, __ATOMIC_ACQUIRE), index);
}

/* Whether the region that holds sp is the one that the scratch remembers. */
static inline bool regions_is_last(const struct hi_state *state, const struct hi_scratch *scratch,
				   uint64_t sp)
{
	return scratch->region_stamp == regions_stamp((const struct hi_control *)state->control) &&
	       scratch->region_lo <= sp && sp < scratch->region_hi;
}

/*
 * The end of what may be read of the region. A thread's control block lies at the upper end of its
 * stack. Using its address as the end stays right even if the region's end is stale.
 */
static inline uint64_t regions_top(const struct hi_scratch *scratch, uint64_t thread, uint64_t sp)
{
	uint64_t hi = __atomic_load_n(&scratch->region_hi, __ATOMIC_RELAXED);

	return sp < thread && thread < hi ? thread : hi;
}

#endif
