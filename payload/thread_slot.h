/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.h - what a thread knows about itself, without TLS: a slot found by hashing the thread pointer (struct hi_thread_slot, hi_wire.h).
 *
 * A thread may lie in any of HI_THREAD_WAYS slots: home ^ 0, home ^ 1, ... The gate looks at all of them, so whoever has a slot is fast. A slot that nobody
 * used for a while may be taken by another thread; its old owner finds that out at its next visit, and takes another. A thread for which there is none comes to
 * the hook with each call: slower, not wrong (visit.c).
 */
#ifndef PAYLOAD_THREAD_SLOT_H
#define PAYLOAD_THREAD_SLOT_H

#include <stdbool.h>

#include "arch/arch.h"
#include "hi_wire.h"
#include "ring.h"

/*
 * Some tenth of a second. Slots of threads that have ended come free by it, as nobody tells the payload of their end: where each thread has a thread pointer
 * that was never seen before, 10,000 new ones a second leave a thousand such slots behind. One that lives loses little: it draws a countdown anew.
 */
#define THREAD_SLOT_STALE_CYCLES 200000000ull

/* Where the search for a thread begins. Never NULL; may belong to another thread. */
static inline struct hi_thread_slot *thread_slot_home(const struct hi_state *state, uint64_t thread)
{
	return (struct hi_thread_slot *)state->thread_slots + hi_thread_hash(thread);
}

/*
 * A slot for a thread that has none. Its countdown and generator are another's. NULL: all taken.
 * Lock-free, bounded; safe in a signal handler.
 */
struct hi_thread_slot *thread_slot_claim(struct hi_state *state, uint64_t thread, uint64_t now);

/* As thread_slot_find, but for those that it does not find at once. */
struct hi_thread_slot *thread_slot_search(const struct hi_state *state, uint64_t thread);

/*
 * The gate counts for the thread in no slot but this one. It may have been evicted while it was about to draw, and have said so in a slot that was another's by
 * then; a countdown that it runs out there nobody would draw anew. Before any slot's countdown is taken to be over.
 */
void thread_slot_settle(const struct hi_state *state, const struct hi_thread_slot *slot, uint64_t thread);

/* Slots of places are numbered, too. */
static inline uint64_t thread_slot_number(const struct hi_state *state, const struct hi_thread_slot *slot)
{
	return (uint64_t)(slot - (const struct hi_thread_slot *)state->thread_slots);
}

/* Whether the thread is alone with the slot's in_flight: it is the first owner, and has a scratch ("who is inside", hi_wire.h). */
static inline bool thread_slot_is_alone(const struct hi_thread_slot *slot, uint64_t thread)
{
	return __atomic_load_n(&slot->owner, __ATOMIC_RELAXED) == thread;
}

/* One more of who is alone with the slot is inside. True: nobody was. */
static inline bool thread_slot_enter(struct hi_thread_slot *slot)
{
	arch_increment_alone(&slot->in_flight);
	return __atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED) == 1;
}

/* The thread's slot, NULL if it has none. Whoever uses it stores last_seen, or may lose it. */
static inline struct hi_thread_slot *thread_slot_find(const struct hi_state *state, uint64_t thread)
{
	struct hi_thread_slot *home = thread_slot_home(state, thread);

	return thread_slot_is_alone(home, thread) ? home : thread_slot_search(state, thread);
}

/* Where its records go; is_alone: the thread is the slot's first owner. */
__attribute__((always_inline)) static inline struct ring_home thread_slot_ring(const struct hi_state *state, const struct hi_thread_slot *slot, bool is_alone)
{
	const uint32_t own = is_alone ? __atomic_load_n(&slot->own_ring, __ATOMIC_RELAXED) : 0;

	if (own)
		return (struct ring_home){.number = own, .is_own = true};
	return (struct ring_home){.number = (uint32_t)thread_slot_number(state, slot) & state->ring_mask / 2};
}

#endif
