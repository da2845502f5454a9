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

bool regions_are_on_own_stack(const struct hi_state *state, uint64_t thread, uint64_t sp,
			      uint64_t other)
{
	const uint64_t main_stack = ((const struct hi_control *)state->control)->main_stack;
	struct region region;
	uint64_t top;

	if (!regions_find(state, sp, &region))
		return false;
	top = sp < thread && thread < region.hi ? thread : region.hi;
	return (top == thread || top == main_stack) && other >= region.lo && other < top;
}
