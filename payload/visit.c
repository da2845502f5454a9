/* SPDX-License-Identifier: MIT */
/*
 * visit.c - see visit.h.
 *
 * WHO COUNTS THE BYTES: an allocating gate entry subtracts the size where it finds the thread, and comes here only once nothing is left; all other ways lead
 * here uncounted. So visit_is_sample_due subtracts in any case: it is either right, or makes less than nothing of nothing. Nothing must be less than that for
 * long, as the gate compares without signs: where a signal handler jumped away on the way here, the thread draws anew when it next frees a sample.
 */
#include "visit.h"

#include "sample.h"

#define TIMED_ONE_IN 16u /* a power of two */

void visit_disarm(struct visit *visit)
{
	if (__atomic_exchange_n(&visit->event.state->armed, 0, __ATOMIC_RELAXED))
		__atomic_fetch_add(&visit_control(visit)->counters.deadman, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&visit->call->words->hook, visit->call->words->original, __ATOMIC_RELAXED);
}

void visit_draw(const struct visit *visit)
{
	struct hi_thread_slot *slot = visit->event.slot;
	uint32_t doublings = __atomic_load_n(&visit_control(visit)->doublings, __ATOMIC_RELAXED);
	uint64_t interval = visit_control(visit)->interval << (doublings & 63);
	bool is_exact = interval <= 1;

	slot->doublings = doublings;
	slot->countdown = is_exact ? 0 : sample_draw(&slot->random, interval);
	slot->fast_owner = !is_exact && thread_slot_is_fast(visit->event.state, slot, visit->event.thread) ? visit->event.thread : 0;
}

/*
 * Where each call is a visit, reading the clock for the account is a good part of what there is to account for. So one visit in TIMED_ONE_IN is timed, for all:
 * chosen by bits of the clock that no rhythm of the program can follow.
 */
static uint8_t weight_of(bool is_exact, uint64_t now)
{
	if (!is_exact)
		return 1;
	return now * HI_HASH >> 32 & (TIMED_ONE_IN - 1) ? 0 : TIMED_ONE_IN;
}

/*
 * An allocation looks at the clock once the original has returned, and no record depends on when it began. In exact mode nothing else does that a time of the
 * thread's last visit would not do for, unless this visit is timed.
 */
static void set_clock(struct visit *visit, uint64_t now, const struct hi_thread_slot *slot)
{
	uint64_t known = now == VISIT_NO_CLOCK_YET && visit->is_exact && slot ? __atomic_load_n(&slot->last_seen, __ATOMIC_RELAXED) : now;

	visit->weight = weight_of(visit->is_exact, known);
	visit->event.cycles = now == VISIT_NO_CLOCK_YET && visit->weight ? clock_about_now() : known;
}

bool visit_begin(struct visit *visit, struct hook_call *call, uint64_t now)
{
	struct hi_state *state = (struct hi_state *)call->words->state;
	uint64_t thread = arch_thread_pointer();
	struct hi_thread_slot *slot = thread_slot_find(state, thread);
	bool is_new = !slot;

	/* One by one: all at once would clear the rest by a string instruction, which is slow to begin. */
	visit->event.state = state;
	visit->event.thread = thread;
	visit->call = call;
	visit->is_exact = __atomic_load_n(&visit_control(visit)->interval, __ATOMIC_RELAXED) <= 1;
	set_clock(visit, now, slot);
	now = visit->event.cycles;
	if (clock_is_deadman_due(visit_control(visit), now)) {
		visit_disarm(visit);
		return false;
	}
	if (is_new)
		slot = thread_slot_claim(state, thread, now);
	else
		__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
	visit->has_slot = slot != NULL;
	/* Without a slot we are still inside: the home slot lends the count of its guests. */
	visit->event.slot = slot ? slot : thread_slot_home(state, thread);
	visit->event.is_alone = thread_slot_is_first(visit->event.slot, thread);
	call->guard = visit->event.is_alone ? &visit->event.slot->in_flight : &visit->event.slot->guests;
	visit->is_nested = !thread_slot_enter(call->guard, visit->event.is_alone);
	if (slot && is_new) {
		slot->random = sample_seed(thread, now);
		visit_draw(visit);
	}
	return true;
}

uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument1, uint64_t argument2)
{
	const uint64_t *argument = visit->call->argument;
	uint64_t value;

	visit_account(visit);
	value = arch_call_original(argument[0], argument1, argument2, argument[3], function);
	visit->event.cycles = clock_now(visit->event.state);
	if (visit->has_slot)
		__atomic_store_n(&visit->event.slot->last_seen, visit->event.cycles, __ATOMIC_RELAXED);
	return value;
}

bool visit_is_sample_due(struct visit *visit, uint64_t size)
{
	struct hi_thread_slot *slot = visit->event.slot;
	bool is_absurd = size > SAMPLE_DISTANCE_MAX; /* no allocator can serve it, and the gate may have led the countdown astray */

	if (!visit->has_slot) {
		record_count(visit->event.state, &visit_control(visit)->counters.no_thread_slot);
		return false;
	}
	/* Nothing was drawn, and nothing will be. */
	if (visit->is_exact && !slot->doublings && !__atomic_load_n(&visit_control(visit)->doublings, __ATOMIC_RELAXED)) {
		visit->event.doublings = 0;
		return !visit->is_nested && !is_absurd;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd)
		return false;
	visit->event.doublings = (uint16_t)slot->doublings;
	visit_draw(visit);
	return !visit->is_nested && !is_absurd;
}
