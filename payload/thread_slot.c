/* SPDX-License-Identifier: MIT */
/*
 * thread_slot.c - finding and claiming a thread's slot.
 *
 * A claim is one compare-and-swap on `owner`. An eviction checks in_flight first. The old owner may
 * enter a hook between that check and the swap. Then both threads use the slot for that one hook
 * scope. The new owner is a guest, and leaves in_flight and scratch alone (hi_wire.h). The only
 * effect is one countdown too few or too many.
 */
#include "thread_slot.h"

#include "clock.h"

static struct hi_thread_slot *slot_at(const struct hi_state *state, uint64_t thread, unsigned way)
{
	return (struct hi_thread_slot *)state->thread_slots + (hi_thread_hash(thread) ^ way);
}

struct hi_thread_slot *thread_slot_search(const struct hi_state *state, uint64_t thread)
{
	for (unsigned way = 0; way < HI_THREAD_WAYS; way++) {
		struct hi_thread_slot *slot = slot_at(state, thread, way);

		if ((__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) & ~HI_SLOT_GUEST) == thread)
			return slot;
	}
	return NULL;
}

void thread_slot_settle(const struct hi_state *state, const struct hi_thread_slot *slot,
			uint64_t thread)
{
	for (unsigned way = 0; way < HI_THREAD_WAYS; way++) {
		struct hi_thread_slot *other = slot_at(state, thread, way);

		if (other != slot &&
		    __atomic_load_n(&other->fast_owner, __ATOMIC_RELAXED) == thread)
			__atomic_store_n(&other->fast_owner, 0, __ATOMIC_RELAXED);
	}
}

/*
 * Gives the slot's first owner a ring of its own, as long as there are any. A ring is never taken
 * back: a thread that has not run for long may be in the middle of a record.
 */
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

/*
 * Gives the slot a scratch. To be called before the slot has an owner, so that the first owner
 * finds the scratch there from the first instruction on. If two threads want the slot, the first
 * number stays, and that of the other is given to nobody: by then the slot may have an owner, whose
 * nested calls find it by its scratch. False: no scratch is left.
 */
static bool give_scratch(struct hi_state *state, struct hi_thread_slot *slot)
{
	uint32_t none = 0;
	uint64_t number;

	if (__atomic_load_n(&slot->scratch, __ATOMIC_RELAXED))
		return true;
	if (__atomic_load_n(&state->scratches_used, __ATOMIC_RELAXED) >= HI_OWN_SCRATCHES)
		return false;
	number = 1 + __atomic_fetch_add(&state->scratches_used, 1, __ATOMIC_RELAXED);
	if (number >= HI_OWN_SCRATCHES)
		return false;
	__atomic_compare_exchange_n(&slot->scratch, &none, (uint32_t)number, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

/*
 * Marks the page of the slot as claimed. Also to be called before the slot has an owner, because
 * from then on in_flight may rise.
 */
static void note_page(struct hi_state *state, const struct hi_thread_slot *slot)
{
	const uint64_t page = thread_slot_number(state, slot) / HI_SLOTS_A_PAGE,
		       bit = 1ull << page % 64;
	uint64_t *claimed = &((struct hi_thread_table *)state->thread_slots)->claimed[page / 64];

	if (!(__atomic_load_n(claimed, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(claimed, bit, __ATOMIC_ACQ_REL);
}

/*
 * Stores last_seen before owner: another thread that finds the new owner must not find an old time
 * with it, and evict it at once.
 */
static bool swap_owner(struct hi_thread_slot *slot, uint64_t from, uint64_t to, uint64_t now)
{
	__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&slot->owner, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static bool take_free(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread,
		      uint64_t now)
{
	bool is_alone;

	if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED))
		return false;
	note_page(state, slot);
	is_alone = give_scratch(state, slot);
	if (!swap_owner(slot, 0, is_alone ? thread : thread | HI_SLOT_GUEST, now))
		return false;
	if (is_alone)
		give_ring(state, slot);
	return true;
}

static bool take_over(struct hi_thread_slot *slot, uint64_t thread, uint64_t now)
{
	uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&slot->in_flight, __ATOMIC_RELAXED) ||
	    !clock_is_past(now, __atomic_load_n(&slot->last_seen, __ATOMIC_RELAXED),
			   THREAD_SLOT_STALE_CYCLES))
		return false;
	return swap_owner(slot, owner, thread | HI_SLOT_GUEST, now);
}

struct hi_thread_slot *thread_slot_claim(struct hi_state *state, uint64_t thread, uint64_t now)
{
	for (unsigned way = 0; way < HI_THREAD_WAYS; way++)
		if (take_free(state, slot_at(state, thread, way), thread, now))
			return slot_at(state, thread, way);
	for (unsigned way = 0; way < HI_THREAD_WAYS; way++)
		if (take_over(slot_at(state, thread, way), thread, now))
			return slot_at(state, thread, way);
	return NULL;
}
