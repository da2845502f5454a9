/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.c - finding and claiming a thread's slot.
 *
 * Claims are one compare-and-swap on `owner`. An eviction looks at in_flight first; should the old owner enter a hook between look and swap, both use
 * the slot for that one visit: in_flight is added to and taken from atomically, and the rest is a countdown too few or too many.
 */
#include "thread_slot.h"

#include "clock.h"

static uint64_t home_index(uint64_t thread)
{
	return hi_gate_hash(thread) & (HI_THREAD_SLOTS - 1);
}

static struct hi_thread_slot *slot_at(const struct hi_state *state, uint64_t thread, unsigned probe)
{
	return (struct hi_thread_slot *)state->thread_slots + (home_index(thread) ^ probe);
}

struct hi_thread_slot *thread_slot_home(const struct hi_state *state, uint64_t thread)
{
	return slot_at(state, thread, 0);
}

bool thread_slot_is_fast(const struct hi_state *state, const struct hi_thread_slot *slot, uint64_t thread)
{
	return (thread_slot_number(state, slot) ^ home_index(thread)) < THREAD_SLOT_FAST;
}

static bool take(struct hi_thread_slot *slot, uint64_t thread, uint64_t now)
{
	uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
	bool is_idle = !__atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED) &&
		       clock_is_past(now, __atomic_load_n(&slot->last_seen, __ATOMIC_RELAXED), THREAD_SLOT_STALE_CYCLES);

	if (owner && !is_idle)
		return false;
	/* Seen before owned: whoever finds the new owner must not find an old time with it, and evict it at once. */
	__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&slot->owner, &owner, thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

struct hi_thread_slot *thread_slot_claim(const struct hi_state *state, uint64_t thread, uint64_t now, bool *out_new)
{
	struct hi_thread_slot *slot;

	*out_new = false;
	for (unsigned probe = 0; probe < THREAD_SLOT_PROBES; probe++) {
		slot = slot_at(state, thread, probe);
		if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) != thread)
			continue;
		__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
		return slot;
	}
	*out_new = true;
	for (unsigned probe = 0; probe < THREAD_SLOT_PROBES; probe++) {
		slot = slot_at(state, thread, probe);
		if (take(slot, thread, now))
			return slot;
	}
	return NULL;
}
