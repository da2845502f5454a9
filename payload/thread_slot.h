/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.h - what the payload stores about a thread, without TLS: a slot found by hashing the
 * thread pointer (struct hi_thread_slot, hi_wire.h).
 *
 * A thread may have any of HI_THREAD_WAYS slots: home ^ 0, home ^ 1, ... The gate looks at all of
 * them, so every thread with a slot takes the fast path. Another thread may take a slot that was
 * not used for a while. The old owner notices that at its next hook scope, and takes another slot.
 * A thread for which no slot is free enters the hook with each call, which is slower, but not wrong
 * (hook_scope.c).
 */
#ifndef PAYLOAD_THREAD_SLOT_H
#define PAYLOAD_THREAD_SLOT_H

#include <stdbool.h>

#include "arch/arch.h"
#include "hi_wire.h"
#include "ring.h"

/*
 * About a tenth of a second. This frees the slots of threads that have ended, as the payload gets
 * no notice of their end. If each new thread has a thread pointer that was never seen before,
 * 10,000 new threads a second leave a thousand such slots. A live thread whose slot is taken loses
 * little: it draws a new countdown.
 */
#define THREAD_SLOT_STALE_CYCLES arch_ticks(200000000)

/* The slot at which the search for a thread begins. Never NULL; may belong to another thread. */
static inline struct hi_thread_slot *thread_slot_home(const struct hi_state *state, uint64_t thread)
{
	return (struct hi_thread_slot *)state->thread_slots + hi_thread_hash(thread);
}

/*
 * Claims a slot for a thread that has none. The slot's countdown and generator are those of its
 * former owner. NULL: all slots that the thread may have are taken. Lock-free, bounded; safe in a
 * signal handler.
 */
struct hi_thread_slot *thread_slot_claim(struct hi_state *state, uint64_t thread, uint64_t now);

/* The slow part of thread_slot_find: for a thread that is not alone with its home slot. */
struct hi_thread_slot *thread_slot_search(const struct hi_state *state, uint64_t thread);

/*
 * Ensures that the gate counts for the thread in no slot but this one. The thread may have been
 * evicted from another slot while it was about to draw a countdown, and may then have set
 * fast_owner in that slot although it already belonged to another thread. If a countdown ran out
 * there, nobody would draw a new one. To be called before a slot's countdown is taken to be over.
 */
void thread_slot_settle(const struct hi_state *state, const struct hi_thread_slot *slot,
			uint64_t thread);

/* The number of a slot. The slots of places have numbers, too. */
static inline uint64_t thread_slot_number(const struct hi_state *state,
					  const struct hi_thread_slot *slot)
{
	return (uint64_t)(slot - (const struct hi_thread_slot *)state->thread_slots);
}

/*
 * Whether the thread is alone with the slot's in_flight: it is the first owner, and has a scratch
 * ("who is inside", hi_wire.h).
 */
static inline bool thread_slot_is_alone(const struct hi_thread_slot *slot, uint64_t thread)
{
	return __atomic_load_n(&slot->owner, __ATOMIC_RELAXED) == thread;
}

/*
 * Raises in_flight of a slot with which the thread is alone. True: it was 0, so the hook scope is
 * not nested.
 */
static inline bool thread_slot_enter(struct hi_thread_slot *slot)
{
	arch_increment_alone(&slot->in_flight);
	return __atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED) == 1;
}

/*
 * The thread's slot, NULL if it has none. A caller that uses the slot must store last_seen, or the
 * thread may lose the slot.
 */
static inline struct hi_thread_slot *thread_slot_find(const struct hi_state *state, uint64_t thread)
{
	struct hi_thread_slot *home = thread_slot_home(state, thread);

	return thread_slot_is_alone(home, thread) ? home : thread_slot_search(state, thread);
}

/*
 * The ring to which records of the thread go first. is_alone: the thread is the first owner of the
 * slot.
 */
__attribute__((always_inline)) static inline struct ring_home
thread_slot_ring(const struct hi_state *state, const struct hi_thread_slot *slot, bool is_alone)
{
	const uint32_t own = is_alone ? __atomic_load_n(&slot->own_ring, __ATOMIC_RELAXED) : 0;

	if (own)
		return (struct ring_home){.number = own, .is_own = true};
	return (struct ring_home){.number = (uint32_t)thread_slot_number(state, slot) &
					    state->ring_mask / 2};
}

#endif
