/* SPDX-License-Identifier: MIT */
/*
 * hook_scope.c - see hook_scope.h.
 *
 * WHO COUNTS THE BYTES. An allocating gate entry subtracts the size if it finds the thread's slot,
 * and then jumps here only if the countdown has reached zero. All other paths lead here with the
 * size uncounted. So hook_scope_is_sample_due always subtracts. Either that subtraction was due, or
 * it makes a countdown that is over still smaller, which changes nothing.
 *
 * A countdown must not stay below zero for long, because the gate compares without signs. It may
 * stay there if a signal handler jumps out (siglongjmp) on the way to the hook. In that case the
 * thread draws a new countdown when it next frees a sampled block.
 */
#include "hook_scope.h"

void hook_scope_disarm(struct hi_state *state, struct hi_gate_words *words)
{
	struct hi_control *control = (struct hi_control *)state->control;

	if (__atomic_exchange_n(&state->armed, 0, __ATOMIC_RELAXED))
		__atomic_fetch_add(&control->counters.deadman, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&words->hook, words->original, __ATOMIC_RELAXED);
}

void hook_scope_draw(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread)
{
	const struct hi_control *control = (const struct hi_control *)state->control;
	uint32_t interval_shift = __atomic_load_n(&control->interval_shift, __ATOMIC_RELAXED);
	uint64_t interval = control->interval << (interval_shift & 63);
	bool is_exact = interval <= HI_INTERVAL_EXACT;

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
		hook_scope_draw(state, slot, thread);
	}
	return slot;
}

/*
 * Begins the hook scope in a place. The hook scope uses the thread's own slot, or, if it has none,
 * the slot of the place. Other threads have used the slot of the place before. So a countdown is
 * drawn for this call alone; it makes the call a sample with the same probability as a countdown
 * that began long ago.
 */
static void come_in(struct hook_scope *scope, struct hi_place *place)
{
	struct hi_state *state = scope->event.state;
	const uint32_t number = place_number(state, place);

	scope->event.scratch = HI_OWN_SCRATCHES + number;
	scope->call->guard = &place->count;
	if (scope->event.slot)
		return;
	scope->event.slot = &place_table(state)->place_slot[number];
	if (scope->is_nested)
		return;
	if (!scope->event.slot->random)
		scope->event.slot->random = sample_seed(scope->event.thread, clock_about_now());
	hook_scope_draw(state, scope->event.slot, scope->event.thread);
}

/*
 * All places that the thread may take are held by others. Records of this hook scope name the slot
 * of one of those places, and several threads may then use that slot at the same time.
 */
static void pass_by(struct hook_scope *scope)
{
	struct hi_thread_table *table = place_table(scope->event.state);

	scope->has_place = false;
	scope->event.scratch = 0;
	scope->has_slot = scope->event.slot != NULL;
	scope->is_nested = true;
	scope->call->guard = &table->passing;
	__atomic_fetch_add(&table->passing, 1, __ATOMIC_ACQ_REL);
	if (!scope->has_slot)
		scope->event.slot =
			&table->place_slot[scope->event.thread * HI_HASH >> (64 - HI_PLACE_BITS)];
}

void hook_scope_begin_as_guest(struct hook_scope *scope)
{
	struct hi_state *state = scope->event.state;
	const uint64_t thread = scope->event.thread;
	struct hi_place *place = place_find(state, thread);

	scope->is_nested = place != NULL;
	if (place) {
		__atomic_fetch_add(&place->count, 1, __ATOMIC_ACQ_REL);
	} else {
		/*
		 * A thread claims a slot only outside of any hook scope of its own, because that
		 * hook scope must know of the hook scopes nested in it.
		 */
		if (!scope->event.slot)
			scope->event.slot = claim(state, thread);
		scope->event.is_alone =
			scope->event.slot && thread_slot_is_alone(scope->event.slot, thread);
		if (scope->event.is_alone)
			return;
		place = place_take(state, thread);
	}
	if (place)
		come_in(scope, place);
	else
		pass_by(scope);
}

void hook_scope_leave(struct hook_scope *scope)
{
	if (scope->event.is_alone)
		return;
	__atomic_fetch_sub(scope->call->guard, 1, __ATOMIC_ACQ_REL);
	scope->call->guard = NULL;
}

/*
 * Counts what the allocation stands for, at most: itself, and, if a countdown has ended at it, one
 * interval more. The bound holds because an allocation of s bytes is a sample with a probability of
 * at least s / (interval + s). The number of allocations follows from the same bound, if all are of
 * this size.
 */
static void count_passed(const struct hook_scope *scope, uint64_t size, uint64_t interval)
{
	struct hi_counters *counters = &hook_scope_control(scope)->counters;

	record_add(scope->event.state, &counters->no_thread_slot, 1 + interval / (size ? size : 1));
	record_add(scope->event.state, &counters->passed_bytes, size + interval);
}

bool hook_scope_is_countdown_over(struct hook_scope *scope, uint64_t size)
{
	struct hi_thread_slot *slot = scope->event.slot;
	/* no allocator can serve this size, and the gate may have made the countdown wrong */
	bool is_absurd = size > SAMPLE_DISTANCE_MAX;

	thread_slot_settle(scope->event.state, slot, scope->event.thread);
	if (!scope->has_slot) {
		if (!is_absurd)
			count_passed(scope, size, 0);
		return false;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd) {
		/*
		 * the countdown is valid, but the gate did not find the slot, or did not look for
		 * it
		 */
		slot->fast_owner = scope->event.thread;
		return false;
	}
	scope->event.interval_shift = (uint16_t)slot->interval_shift;
	if (!scope->has_place && !is_absurd)
		count_passed(scope, size,
			     scope->is_exact ? 0
					     : hook_scope_control(scope)->interval
						       << (slot->interval_shift & 63));
	hook_scope_draw(scope->event.state, slot, scope->event.thread);
	return !hook_scope_is_inner(scope) && !is_absurd;
}
