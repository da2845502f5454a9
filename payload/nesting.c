/* SPDX-License-Identifier: MIT */
/* nesting.c - see nesting.h. */
#include "nesting.h"

#include "regions.h"

/*
 * Whether both addresses lie on the thread's own stack, between the lowest address of its region
 * and its control block, or the end of the main stack.
 */
static bool are_on_own_stack(const struct hi_state *state, uint64_t thread, uint64_t sp,
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

/*
 * The frame lies above the current one on the thread's own stack, so it can be read.
 * (AddressSanitizer has its own idea of frames that were left.)
 */
__attribute__((no_sanitize("address"))) static bool is_intact(const struct hook_call *outermost,
							      const uint32_t *guard)
{
	return outermost->guard == guard;
}

enum nesting nesting_of(const struct hi_state *state, uint64_t thread, const struct hook_call *call,
			uint64_t outermost, const uint32_t *guard)
{
	const uint64_t sp = (uint64_t)call;

	if (!outermost)
		return NESTING_NONE;
	if (!are_on_own_stack(state, thread, sp, outermost))
		return NESTING_UNKNOWN;
	return sp < outermost && is_intact((const struct hook_call *)outermost, guard)
		       ? NESTING_INNER
		       : NESTING_NONE;
}
