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
	uint32_t doublings = __atomic_load_n(&control->doublings, __ATOMIC_RELAXED);
	uint64_t interval = control->interval << (doublings & 63);
	bool is_exact = interval <= 1;

	slot->doublings = (uint16_t)doublings;
	slot->countdown = is_exact ? 0 : sample_draw(&slot->random, interval);
	slot->fast_owner = !is_exact && thread_slot_is_fast(state, slot, thread) ? thread : 0;
}

struct hi_thread_slot *visit_claim(struct hi_state *state, uint64_t thread)
{
	const uint64_t now = clock_about_now();
	struct hi_thread_slot *slot;

	__atomic_fetch_add(&state->threads, 1, __ATOMIC_ACQ_REL);
	slot = thread_slot_claim(state, thread, now);

	if (slot) {
		slot->random = sample_seed(thread, now);
		visit_draw(state, slot, thread);
	}
	return slot;
}

bool visit_is_countdown_over(struct visit *visit, uint64_t size)
{
	struct hi_thread_slot *slot = visit->event.slot;
	bool is_absurd = size > SAMPLE_DISTANCE_MAX; /* no allocator can serve it, and the gate may have led the countdown astray */

	if (!visit->has_slot) {
		record_count(visit->event.state, &visit_control(visit)->counters.no_thread_slot);
		return false;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd)
		return false;
	visit->event.doublings = (uint16_t)slot->doublings;
	visit_draw(visit->event.state, slot, visit->event.thread);
	return !visit->is_nested && !is_absurd;
}
