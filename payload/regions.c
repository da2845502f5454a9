/* SPDX-License-Identifier: MIT */
/* regions.c - see regions.h. */
#include "regions.h"

__attribute__((noinline)) bool regions_find(const struct hi_state *state, uint64_t sp,
					    struct region *out_region)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t index = __atomic_load_n(&control->current_regions, __ATOMIC_ACQUIRE) & 1;
	const struct hi_regions *regions = &control->regions[index];
	uint64_t generation = __atomic_load_n(&regions->generation, __ATOMIC_ACQUIRE);
	uint32_t low = 0,
		 high = regions->count < HI_REGION_CAPACITY ? regions->count : HI_REGION_CAPACITY;
	uint64_t lo, hi;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (regions->range[middle].hi <= sp)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == HI_REGION_CAPACITY)
		return false;
	lo = regions->range[low].lo;
	hi = regions->range[low].hi;
	if (low >= regions->count || !published_is_unchanged(&regions->generation, generation) ||
	    sp < lo || sp >= hi)
		return false;
	*out_region =
		(struct region){.lo = lo, .hi = hi, .stamp = published_stamp(generation, index)};
	return true;
}
