/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.h - what a thread knows about itself, without TLS: a slot found by hashing the thread pointer (struct hi_thread_slot, hi_wire.h).
 *
 * A thread may lie in any of THREAD_SLOT_PROBES slots: home ^ 0, home ^ 1, ... The gate looks at the first THREAD_SLOT_FAST of them, so a thread
 * further away comes to the hook with each call: slower, not wrong. A slot that nobody used for a while may be taken by another thread;
 * its old owner finds that out at its next visit, and takes another.
 */
#ifndef PAYLOAD_THREAD_SLOT_H
#define PAYLOAD_THREAD_SLOT_H

#include <stdbool.h>

#include "hi_wire.h"

#define THREAD_SLOT_PROBES 8u
#define THREAD_SLOT_FAST 2u
#define THREAD_SLOT_STALE_CYCLES 2000000000ull /* about a second: longer than any visit, shorter than a thread pool's patience */

/* Where the search for a thread begins. Never NULL; may belong to another thread. */
struct hi_thread_slot *thread_slot_home(const struct hi_state *state, uint64_t thread);

/* Whether the gate would find the thread there. */
bool thread_slot_is_fast(const struct hi_state *state, const struct hi_thread_slot *slot, uint64_t thread);

/*
 * The thread's slot, claimed now if need be: then *out_new is true and the slot's countdown and generator are another's. NULL: all taken.
 * Lock-free, bounded; safe in a signal handler.
 */
struct hi_thread_slot *thread_slot_claim(const struct hi_state *state, uint64_t thread, uint64_t now, bool *out_new);

static inline uint64_t thread_slot_number(const struct hi_state *state, const struct hi_thread_slot *slot)
{
	return (uint64_t)(slot - (const struct hi_thread_slot *)state->thread_slots);
}

/* Where the slot's owner puts together what it tells; see struct hi_scratch. */
static inline struct hi_scratch *thread_slot_scratch(const struct hi_state *state, const struct hi_thread_slot *slot)
{
	return (struct hi_scratch *)(state->scratch + thread_slot_number(state, slot) * HI_SCRATCH_BYTES);
}

#endif
