/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.c - finding and claiming a thread's slot.
 *
 * Claims are one compare-and-swap on `owner`. An eviction looks at the counts first; should the old owner enter a hook between look and swap, both use
 * the slot for that one visit: each has a count and a scratch that the other leaves alone, or adds to atomically (hi_wire.h), and the rest is a countdown too
 * few or too many.
 */
#include "thread_slot.h"

#include "clock.h"

static struct hi_thread_slot *slot_at(const struct hi_state *state, uint64_t thread, unsigned probe)
{
	return (struct hi_thread_slot *)state->thread_slots + (thread_slot_home_index(thread) ^ probe);
}

bool thread_slot_is_fast(const struct hi_state *state, const struct hi_thread_slot *slot, uint64_t thread)
{
	return (thread_slot_number(state, slot) ^ thread_slot_home_index(thread)) < THREAD_SLOT_FAST;
}

static bool take(struct hi_thread_slot *slot, uint64_t thread, uint64_t now)
{
	uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
	bool is_idle = !__atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED) && !__atomic_load_n(&slot->guests, __ATOMIC_RELAXED) &&
		       clock_is_past(now, __atomic_load_n(&slot->last_seen, __ATOMIC_RELAXED), THREAD_SLOT_STALE_CYCLES);

	if (owner && !is_idle)
		return false;
	/* Seen before owned: whoever finds the new owner must not find an old time with it, and evict it at once. */
	__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&slot->owner, &owner, owner ? thread | HI_SLOT_TAKEN_OVER : thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

struct hi_thread_slot *thread_slot_search(const struct hi_state *state, uint64_t thread)
{
	for (unsigned probe = 0; probe < THREAD_SLOT_PROBES; probe++) {
		struct hi_thread_slot *slot = slot_at(state, thread, probe);

		if ((__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) & ~HI_SLOT_TAKEN_OVER) == thread)
			return slot;
	}
	return NULL;
}

/* A ring for its first owner alone, as long as there are any. Never taken back: who is away for long may be in the middle of a record. */
static void give_ring(struct hi_state *state, struct hi_thread_slot *slot)
{
	const uint64_t for_all = state->ring_mask / 2 + 1;
	uint64_t number;

	if (__atomic_load_n(&state->rings_owned, __ATOMIC_RELAXED) > state->ring_mask)
		return;
	number = for_all + __atomic_fetch_add(&state->rings_owned, 1, __ATOMIC_RELAXED);
	if (number <= state->ring_mask)
		__atomic_store_n(&slot->own_ring, (uint16_t)number, __ATOMIC_RELAXED);
}

struct hi_thread_slot *thread_slot_claim(struct hi_state *state, uint64_t thread, uint64_t now)
{
	struct hi_thread_slot *slot;

	for (unsigned probe = 0; probe < THREAD_SLOT_PROBES; probe++) {
		slot = slot_at(state, thread, probe);
		if (!take(slot, thread, now))
			continue;
		if (thread_slot_is_first(slot, thread))
			give_ring(state, slot);
		return slot;
	}
	return NULL;
}
