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

static uint32_t interval_shift_now(const struct hook_scope *scope)
{
	return __atomic_load_n(&hook_scope_control(scope)->interval_shift, __ATOMIC_RELAXED);
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
	/*
	 * The injector may have made the interval finer just now, and have cleared fast_owner
	 * before this thread stored it: the next call draws again.
	 */
	if (__atomic_load_n(&control->interval_shift, __ATOMIC_RELAXED) < interval_shift)
		slot->fast_owner = 0;
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
static void come_in(struct hook_scope *scope, struct hi_place *place, bool is_first)
{
	struct hi_state *state = scope->event.state;
	const uint32_t number = place_number(state, place);

	scope->event.scratch = HI_OWN_SCRATCHES + number;
	scope->call->guard = &place->count;
	hook_scope_enter(scope, is_first);
	if (scope->event.slot)
		return;
	scope->event.slot = &place_table(state)->place_slot[number];
	if (scope->nesting != NESTING_NONE)
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
	scope->nesting = NESTING_UNKNOWN;
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
	const bool is_first = !place;

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
		come_in(scope, place, is_first);
	else
		pass_by(scope);
}

void hook_scope_leave(struct hook_scope *scope)
{
	if (scope->event.is_alone)
		return;
	hook_scope_exit(scope);
	__atomic_fetch_sub(scope->call->guard, 1, __ATOMIC_ACQ_REL);
	scope->call->guard = NULL;
}

void hook_scope_step_out(struct hook_scope *scope, uint32_t *guard)
{
	if (scope->event.is_alone) {
		hook_scope_exit(scope);
		arch_decrement_alone(scope->call->guard);
	} else {
		hook_scope_leave(scope);
	}
	scope->call->guard = guard;
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

static uint32_t bit_width(uint64_t value)
{
	return value ? 64u - (uint32_t)__builtin_clzll(value) : 0;
}

/*
 * The index of an allocation in struct hi_thinning. The distance of the stack pointer from the
 * thread pointer is the depth of the stack: it distinguishes the callers of a function that
 * allocates for others, and is the same in all threads of one kind.
 */
static uint32_t thinning_key(const struct hook_scope *scope, uint64_t size)
{
	const uint64_t depth = (uint64_t)scope->call - scope->event.thread;

	return ((scope->call->return_address ^ depth << 20) * HI_HASH +
		bit_width(size) * HI_HASH) >>
	       (64 - HI_THINNING_BITS);
}

/*
 * Raises interval_shift, unless it was changed since the countdown was drawn with `begun`. Threads
 * that met the limit at the same time raise it once.
 */
static void brake(struct hi_control *control, uint32_t begun)
{
	uint32_t old = __atomic_load_n(&control->interval_shift, __ATOMIC_RELAXED);
	uint32_t raised = begun + HI_THINNING_BRAKE_SHIFT;

	if (raised < HI_THINNING_SHIFT_MIN && control->interval <= HI_INTERVAL_EXACT)
		raised = HI_THINNING_SHIFT_MIN;
	if (raised > control->shift_max)
		raised = control->shift_max;
	if (old == begun)
		__atomic_compare_exchange_n(&control->interval_shift, &old, raised, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Counts an allocation that is due, and returns the shift of its key. begun: as in brake(). */
static uint32_t thinning_shift(struct hi_control *control, uint32_t key, uint32_t begun)
{
	const uint32_t due =
		__atomic_fetch_add(&control->thinning.due[key], 1, __ATOMIC_RELAXED) + 1;

	if (!(due % HI_THINNING_BRAKE))
		brake(control, begun);
	return __atomic_load_n(&control->thinning.shift[key], __ATOMIC_RELAXED) +
	       bit_width(due / HI_THINNING_FREE);
}

/*
 * Whether an allocation that is due is recorded, where the interval adapts to a budget. If so, adds
 * the shift of its key to the event's interval_shift, and the key. rest: the bytes after the first
 * point.
 */
static bool is_kept(struct hook_scope *scope, uint64_t size, uint64_t rest)
{
	struct hi_control *control = hook_scope_control(scope);
	const uint32_t begun = scope->event.interval_shift, most = control->shift_max;
	const uint64_t mean = control->interval << (begun & 63);
	const uint32_t key = thinning_key(scope, size);
	uint32_t shift = thinning_shift(control, key, begun);

	scope->event.interval_shift = begun | (key + 1) << 16;
	if (begun >= most || (mean > HI_INTERVAL_EXACT && mean < HI_THINNING_MEAN_MIN))
		return true;
	if (shift > most - begun)
		shift = most - begun;
	scope->event.interval_shift += shift;
	return sample_is_kept(&scope->event.slot->random, mean, shift,
			      mean <= HI_INTERVAL_EXACT ? size : rest);
}

bool hook_scope_is_countdown_over(struct hook_scope *scope, uint64_t size)
{
	struct hi_thread_slot *slot = scope->event.slot;
	/* no allocator can serve this size, and the gate may have made the countdown wrong */
	bool is_absurd = size > SAMPLE_DISTANCE_MAX;
	uint64_t rest;

	thread_slot_settle(scope->event.state, slot, scope->event.thread);
	if (!scope->has_slot) {
		if (!is_absurd)
			count_passed(scope, size, 0);
		return false;
	}
	/*
	 * The interval has changed since the countdown was drawn. The gate has not counted this
	 * call, as the countdown is not over.
	 */
	if (slot->countdown > 0 && slot->interval_shift != interval_shift_now(scope))
		hook_scope_draw(scope->event.state, slot, scope->event.thread);
	/* if the countdown is over already, the gate has counted this call */
	rest = (slot->countdown > 0 ? size : 0) - (uint64_t)slot->countdown;
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
	scope->event.interval_shift = slot->interval_shift;
	if (scope->nesting == NESTING_UNKNOWN && !is_absurd)
		count_passed(scope, size,
			     scope->is_exact ? 0
					     : hook_scope_control(scope)->interval
						       << (slot->interval_shift & 63));
	hook_scope_draw(scope->event.state, slot, scope->event.thread);
	if (hook_scope_is_inner(scope) || is_absurd)
		return false;
	return !hook_scope_control(scope)->shift_max || is_kept(scope, size, rest);
}

void hook_scope_return_by_probe(struct hook_scope *scope, uint64_t address, uint64_t bytes)
{
	const struct hi_control *control = hook_scope_control(scope);
	const uint64_t mean = control->interval << (scope->event.interval_shift & 63);
	uint64_t *argument = scope->call->argument;
	/* read once */
	const uint64_t probe = __atomic_load_n(&scope->event.state->probe_alloc, __ATOMIC_RELAXED);

	if (!probe)
		return;
	argument[0] = address;
	argument[1] = bytes;
	argument[2] = sample_weight(&scope->event.slot->random, mean, bytes);
	argument[3] = probe;
	scope->returns_by_probe = true;
}
