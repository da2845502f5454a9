/* SPDX-License-Identifier: MIT */
/* nesting.c - see nesting.h. */
#include "nesting.h"

#include "regions.h"

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
	if (!regions_are_on_own_stack(state, thread, sp, sp))
		return NESTING_UNKNOWN;
	if (!regions_are_on_own_stack(state, thread, sp, outermost))
		return NESTING_NONE;
	return sp < outermost && is_intact((const struct hook_call *)outermost, guard)
		       ? NESTING_INNER
		       : NESTING_NONE;
}
