/* SPDX-License-Identifier: MIT */
/*
 * visit.c - see visit.h.
 *
 * WHO COUNTS THE BYTES. An allocating gate entry subtracts the size if it finds the thread's slot,
 * and then jumps here only if the countdown has reached zero. All other paths lead here with the
 * size uncounted. So visit_is_sample_due always subtracts. Either that subtraction was due, or it
 * makes a countdown that is over still smaller, which changes nothing.
 *
 * A countdown must not stay below zero for long, because the gate compares without signs. It may
 * stay there if a signal handler jumps out (siglongjmp) on the way to the hook. In that case the
 * thread draws a new countdown when it next frees a sampled block.
 */
#include "visit.h"

void visit_disarm(struct hi_state *state, struct hi_gate_words *words)
{
	struct hi_control *control = (struct hi_control *)state->control;

	if (__atomic_exchange_n(&state->armed, 0, __ATOMIC_RELAXED))
		__atomic_fetch_add(&control->counters.deadman, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&words->hook, words->original, __ATOMIC_RELAXED);
}

void visit_draw(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t interval_shift = __atomic_load_n(&control->interval_shift, __ATOMIC_RELAXED);
	uint64_t interval = control->interval << (interval_shift & 63);
	bool is_exact = interval <= 1;

	slot->interval_shift = (uint16_t)interval_shift;
	slot->countdown = is_exact ? 0 : sample_draw(&slot->random, interval);
	slot->fast_owner = is_exact ? 0 : thread;
}

/* NULL: no slot is free. */
static struct hi_thread_slot *claim(struct hi_state *state, uint64_t thread)
{
	const uint64_t now = clock_about_now();
	struct hi_thread_slot *slot;

	if (__atomic_load_n(&state->threads, __ATOMIC_RELAXED) < 2)
		__atomic_fetch_add(&state->threads, 1, __ATOMIC_ACQ_REL);
	slot = thread_slot_claim(state, thread, now);
	if (slot) {
		slot->random = sample_seed(thread, now);
		visit_draw(state, slot, thread);
	}
	return slot;
}

/*
 * Begins the visit in a place. The visit uses the thread's own slot, or, if it has none, the slot
 * of the place. Other threads have used the slot of the place before. So a countdown is drawn for
 * this call alone; it makes the call a sample with the same probability as a countdown that began
 * long ago.
 */
static void come_in(struct visit *visit, struct hi_place *place)
{
	struct hi_state *state = visit->event.state;
	const uint32_t number = place_number(state, place);

	visit->event.scratch = HI_OWN_SCRATCHES + number;
	visit->call->guard = &place->count;
	if (visit->event.slot)
		return;
	visit->event.slot = &place_table(state)->place_slot[number];
	if (visit->is_nested)
		return;
	if (!visit->event.slot->random)
		visit->event.slot->random = sample_seed(visit->event.thread, clock_about_now());
	visit_draw(state, visit->event.slot, visit->event.thread);
}

/*
 * All places that the thread may take are held by others. Records of this visit name the slot of
 * one of those places, and several threads may then use that slot at the same time.
 */
static void pass_by(struct visit *visit)
{
	struct hi_thread_table *table = place_table(visit->event.state);

	visit->has_place = false;
	visit->event.scratch = 0;
	visit->has_slot = visit->event.slot != NULL;
	visit->is_nested = true;
	visit->call->guard = &table->passing;
	__atomic_fetch_add(&table->passing, 1, __ATOMIC_ACQ_REL);
	if (!visit->has_slot)
		visit->event.slot = &table->place_slot[visit->event.thread * HI_HASH >> (64 - HI_PLACE_BITS)];
}

void visit_begin_as_guest(struct visit *visit)
{
	struct hi_state *state = visit->event.state;
	const uint64_t thread = visit->event.thread;
	struct hi_place *place = place_find(state, thread);

	visit->is_nested = place != NULL;
	if (place) {
		__atomic_fetch_add(&place->count, 1, __ATOMIC_ACQ_REL);
	} else {
		/*
		 * A thread claims a slot only outside of any visit of its own, because that visit
		 * must know of the visits nested in it.
		 */
		if (!visit->event.slot)
			visit->event.slot = claim(state, thread);
		visit->event.is_alone = visit->event.slot && thread_slot_is_alone(visit->event.slot, thread);
		if (visit->event.is_alone)
			return;
		place = place_take(state, thread);
	}
	if (place)
		come_in(visit, place);
	else
		pass_by(visit);
}

void visit_leave(struct visit *visit)
{
	if (visit->event.is_alone)
		return;
	__atomic_fetch_sub(visit->call->guard, 1, __ATOMIC_ACQ_REL);
	visit->call->guard = NULL;
}

/*
 * Counts what the allocation stands for, at most: itself, and, if a countdown has ended at it, one
 * interval more. The bound holds because an allocation of s bytes is a sample with a probability of
 * at least s / (interval + s). The number of allocations follows from the same bound, if all are of
 * this size.
 */
static void count_passed(const struct visit *visit, uint64_t size, uint64_t interval)
{
	struct hi_counters *counters = &visit_control(visit)->counters;

	record_add(visit->event.state, &counters->no_thread_slot, 1 + interval / (size ? size : 1));
	record_add(visit->event.state, &counters->passed_bytes, size + interval);
}

bool visit_is_countdown_over(struct visit *visit, uint64_t size)
{
	struct hi_thread_slot *slot = visit->event.slot;
	/* no allocator can serve this size, and the gate may have made the countdown wrong */
	bool is_absurd = size > SAMPLE_DISTANCE_MAX;

	thread_slot_settle(visit->event.state, slot, visit->event.thread);
	if (!visit->has_slot) {
		if (!is_absurd)
			count_passed(visit, size, 0);
		return false;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd) {
		/*
		 * the countdown is valid, but the gate did not find the slot, or did not look for
		 * it
		 */
		slot->fast_owner = visit->event.thread;
		return false;
	}
	visit->event.interval_shift = (uint16_t)slot->interval_shift;
	if (!visit->has_place && !is_absurd)
		count_passed(visit, size, visit->is_exact ? 0 : visit_control(visit)->interval << (slot->interval_shift & 63));
	visit_draw(visit->event.state, slot, visit->event.thread);
	return !visit_is_inner(visit) && !is_absurd;
}
