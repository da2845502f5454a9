/* SPDX-License-Identifier: MIT */
/*
 * nesting.h - whether a hook call is nested in another one of its thread.
 *
 * The counts of "who is inside" (hi_wire.h) stay up if a thread leaves an original by longjmp, by
 * an exception or by a signal handler that jumps out. So they only say that a call may be nested.
 * The scratch that belongs to a count holds the stack address of the OUTERMOST hook call, from its
 * beginning to its end. A later call shows that this one has been left:
 *  - on the thread's own stack a nested call lies below it;
 *  - as long as it runs, its frame is as the stub left it;
 *  - a call on the thread's own stack is not nested in one on another stack, which has been left,
 * or waits in a coroutine that a signal handler has switched away from. Nothing follows for a call
 * on another stack (sigaltstack, coroutines), where addresses have no order: it is then UNKNOWN
 * whether it is nested. Such an allocation is passed over, and counted.
 *
 * A stack for signal handlers that is a variable on the thread's own stack lies above calls that a
 * handler there interrupts, or is not theirs; these then seem to have been left. Such a handler, or
 * one that switches coroutines, may cost a record its stack.
 */
#ifndef PAYLOAD_NESTING_H
#define PAYLOAD_NESTING_H

#include "arch/arch.h"

enum nesting {
	NESTING_NONE,
	NESTING_INNER,   /* in the call at hi_scratch.outermost */
	NESTING_UNKNOWN, /* perhaps in that call */
};

/*
 * Of a call that found its count above 0. outermost: the address of the outermost one, 0 = none;
 * its guard is this one. Bounded, reads no other stack.
 */
enum nesting nesting_of(const struct hi_state *state, uint64_t thread, const struct hook_call *call,
			uint64_t outermost, const uint32_t *guard);

/* The call is the outermost from now on. */
static inline void nesting_begin(struct hi_scratch *scratch, const struct hook_call *call)
{
	__atomic_store_n(&scratch->outermost_function, call->words->function, __ATOMIC_RELAXED);
	__atomic_store_n(&scratch->outermost, (uint64_t)call, __ATOMIC_RELEASE);
}

/* To be called before the count of the outermost call is lowered: from then on there is none. */
static inline void nesting_end(struct hi_scratch *scratch)
{
	__atomic_store_n(&scratch->outermost, 0, __ATOMIC_RELEASE);
}

#endif
