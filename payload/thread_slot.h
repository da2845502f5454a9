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

#include "arch/arch.h"
#include "hi_wire.h"
#include "ring.h"

#define THREAD_SLOT_PROBES 8u
#define THREAD_SLOT_FAST 2u
#define THREAD_SLOT_STALE_CYCLES 2000000000ull /* about a second: longer than any visit, shorter than a thread pool's patience */

static inline uint64_t thread_slot_home_index(uint64_t thread)
{
	return hi_gate_hash(thread) & (HI_THREAD_SLOTS - 1);
}

/* Where the search for a thread begins. Never NULL; may belong to another thread. */
static inline struct hi_thread_slot *thread_slot_home(const struct hi_state *state, uint64_t thread)
{
	return (struct hi_thread_slot *)state->thread_slots + thread_slot_home_index(thread);
}

/* Whether the gate would find the thread there. */
bool thread_slot_is_fast(const struct hi_state *state, const struct hi_thread_slot *slot, uint64_t thread);

/*
 * A slot for a thread that has none. Its countdown and generator are another's. NULL: all taken.
 * Lock-free, bounded; safe in a signal handler.
 */
struct hi_thread_slot *thread_slot_claim(struct hi_state *state, uint64_t thread, uint64_t now);

/* As thread_slot_find, but for those that it does not find at once. */
struct hi_thread_slot *thread_slot_search(const struct hi_state *state, uint64_t thread);

static inline uint64_t thread_slot_number(const struct hi_state *state, const struct hi_thread_slot *slot)
{
	return (uint64_t)(slot - (const struct hi_thread_slot *)state->thread_slots);
}

/* Whether the thread is alone with the slot's in_flight: it is the first owner ("who is inside", hi_wire.h). */
static inline bool thread_slot_is_first(const struct hi_thread_slot *slot, uint64_t thread)
{
	return __atomic_load_n(&slot->owner, __ATOMIC_RELAXED) == thread;
}

/* One more is inside; count is in_flight or guests. True: nobody was, by this count. */
static inline bool thread_slot_enter(uint32_t *count, bool is_alone)
{
	if (!is_alone)
		return __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL) == 0;
	arch_increment_alone(count);
	return __atomic_load_n(count, __ATOMIC_RELAXED) == 1;
}

/* The thread's slot, NULL if it has none. Whoever uses it stores last_seen, or may lose it. */
static inline struct hi_thread_slot *thread_slot_find(const struct hi_state *state, uint64_t thread)
{
	struct hi_thread_slot *home = thread_slot_home(state, thread);

	return thread_slot_is_first(home, thread) ? home : thread_slot_search(state, thread);
}

/* Where its records go; is_alone: the thread is the slot's first owner. */
__attribute__((always_inline)) static inline struct ring_home thread_slot_ring(const struct hi_state *state, const struct hi_thread_slot *slot, bool is_alone)
{
	const uint32_t own = is_alone ? __atomic_load_n(&slot->own_ring, __ATOMIC_RELAXED) : 0;

	if (own)
		return (struct ring_home){.number = own, .is_own = true};
	return (struct ring_home){.number = (uint32_t)thread_slot_number(state, slot) & state->ring_mask / 2};
}

/* Where a visit puts together what it tells; see struct hi_scratch. */
static inline struct hi_scratch *thread_slot_scratch(const struct hi_state *state, const struct hi_thread_slot *slot, bool is_alone)
{
	return (struct hi_scratch *)(state->scratch + (thread_slot_number(state, slot) + (is_alone ? 0 : HI_THREAD_SLOTS)) * HI_SCRATCH_BYTES);
}

#endif
