/* SPDX-License-Identifier: MIT */
/*
 * visit.c - see visit.h.
 *
 * WHO COUNTS THE BYTES: an allocating gate entry subtracts the size where it finds the thread, and comes here only once nothing is left; all other ways lead
 * here uncounted. So visit_is_sample_due subtracts in any case: it is either right, or makes less than nothing of nothing. Nothing must be less than that for
 * long, as the gate compares without signs: where a signal handler jumped away on the way here, the thread draws anew when it next frees a sample.
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

/* NULL: there is none to be had. */
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
 * In a place, with the slot of its own, or that of the place. The latter has been another thread's; a countdown that is drawn for this call alone makes it a
 * sample as often as one that was begun long ago.
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

/* All places that it may take are held by others. What is told meanwhile bears the slot of one of them, which is for all by then. */
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
		/* Not in the middle of a visit, which shall know of those that are nested in it. */
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
 * What the allocation stands for, at most: itself, and if it is the sample that a countdown has led to, at most one interval more, as an allocation of s bytes
 * is a sample with a probability of at least s / (interval + s). In allocations of as many bytes the same.
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
	bool is_absurd = size > SAMPLE_DISTANCE_MAX; /* no allocator can serve it, and the gate may have led the countdown astray */

	thread_slot_settle(visit->event.state, slot, visit->event.thread);
	if (!visit->has_slot) {
		if (!is_absurd)
			count_passed(visit, size, 0);
		return false;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd) {
		slot->fast_owner = visit->event.thread; /* it has a countdown, and the gate did not find it, or was not asked */
		return false;
	}
	visit->event.interval_shift = (uint16_t)slot->interval_shift;
	if (!visit->has_place && !is_absurd)
		count_passed(visit, size, visit->is_exact ? 0 : visit_control(visit)->interval << (slot->interval_shift & 63));
	visit_draw(visit->event.state, slot, visit->event.thread);
	return !visit_is_inner(visit) && !is_absurd;
}
