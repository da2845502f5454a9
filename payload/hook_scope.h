/* SPDX-License-Identifier: MIT */
/*
 * hook_scope.h - a VISIT is one passage of a thread through a handler of hooks.c.
 *
 * hook_scope_begin raises a count, so that detach knows that a thread is inside; the stub of the
 * gate lowers it again. The handler ends in one of two ways. Either it passes: the stub jumps to
 * the original, and leaves nothing of the payload on the stack. Or the handler calls the original
 * itself and returns its result.
 *
 * NESTED calls are not sampled. A call is nested if the original reaches another hooked function,
 * or if a signal handler interrupts a hook scope (nesting.h). Its bytes belong to the outer call,
 * or are too few to matter. A free in a nested call is recorded like any other.
 */
#ifndef PAYLOAD_HOOK_SCOPE_H
#define PAYLOAD_HOOK_SCOPE_H

#include <stdbool.h>

#include "clock.h"
#include "arch/arch.h"
#include "nesting.h"
#include "place.h"
#include "record.h"
#include "sample.h"
#include "thread_slot.h"

/* some 0.1 ms. A hook scope that took longer was interrupted, and others used that time */
#define HOOK_SCOPE_CYCLES_MAX arch_ticks(300000)

struct hook_scope {
	struct record_event event; /* event.cycles: 0 = the clock was not read yet */
	struct hook_call *call;
	bool has_slot; /* this hook scope may subtract from the slot's countdown */
	/*
	 * the hook scope is counted in in_flight of its slot or in a place, where its nested calls
	 * can be distinguished from calls of other threads, and it has a scratch. If false, nothing
	 * is sampled
	 */
	bool has_place;
	bool is_exact; /* every call is a sample */
	enum nesting nesting;
	/*
	 * factor by which the time of this hook scope is multiplied for the account; 0 = the hook
	 * scope is not timed
	 */
	uint8_t weight;
	/* the hook returns through the probe, whose arguments have taken the place of its own */
	bool returns_by_probe;
};

static const struct hook_outcome HOOK_SCOPE_PASS = {.pass = HOOK_PASS};

static inline struct hi_control *hook_scope_control(const struct hook_scope *scope)
{
	return (struct hi_control *)scope->event.state->control;
}

/* False: the handler must pass, and the thread is not counted as inside. */
__attribute__((always_inline)) static inline bool hook_scope_begin(struct hook_scope *scope,
								   struct hook_call *call);
/*
 * Calls the original, or another function instead of it. The time that it takes is not counted as
 * the payload's. A function with fewer arguments ignores the rest.
 */
static inline uint64_t hook_scope_call(struct hook_scope *scope, uint64_t function,
				       uint64_t argument0, uint64_t argument1, uint64_t argument2);
/*
 * Whether another hooked function of the allocator called this one. The bytes of this call then
 * belong to that caller.
 */
static inline bool hook_scope_is_inner(const struct hook_scope *scope);
/*
 * Whether this allocation is a sample. If the countdown has run out, a new one is drawn in any
 * case. With --sample 1 the countdown has always run out.
 */
static inline bool hook_scope_is_sample_due(struct hook_scope *scope, uint64_t size);
/*
 * To be called before anything is recorded. Sets event.cycles to the current time, unless the clock
 * was read since the original returned or, before that, since the hook scope began. False: the
 * injector has been silent for too long, and nothing may be recorded from now on.
 */
__attribute__((always_inline)) static inline bool hook_scope_may_record(struct hook_scope *scope);
/*
 * Ends the hook scope of a call whose frame stays, and which is counted elsewhere from now on. The
 * stub will lower that count.
 */
void hook_scope_step_out(struct hook_scope *scope, uint32_t *guard);
/* Draws a new countdown to the thread's next sample. */
void hook_scope_draw(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread);

/*
 * The functions below are the common path. The functions that are rarely needed are out of line in
 * hook_scope.c:
 */

#define TIMED_ONE_IN 64u /* a power of two */

/* To be called when the injector has been silent for too long: nothing is sampled from now on. */
void hook_scope_disarm(struct hi_state *state, struct hi_gate_words *words);
/*
 * For a thread that is not alone with the slot in `event`, or for which `event` has no slot (NULL).
 * Claims a slot for the thread. If the thread is not alone with that slot either, the hook scope
 * begins as a guest, and is counted.
 */
void hook_scope_begin_as_guest(struct hook_scope *scope);
/* Ends the hook scope of a guest: its count is lowered again. */
void hook_scope_leave(struct hook_scope *scope);
bool hook_scope_is_countdown_over(struct hook_scope *scope, uint64_t size);
/*
 * Has the hook return through the probe of allocations, for the sample that was just recorded. The
 * arguments of the call are gone after this.
 */
void hook_scope_return_by_probe(struct hook_scope *scope, uint64_t address, uint64_t bytes);

/*
 * If every call is a hook scope, reading the clock for the account of the payload's time is a large
 * part of that time. So only one hook scope in TIMED_ONE_IN is timed, and counts for all of them.
 * It is chosen at random, so that no regular pattern in the program can coincide with the choice.
 * (The generator is Knuth's for MMIX; its upper bits are the good ones.)
 */
static inline uint8_t hook_scope_weight(bool is_exact, struct hi_thread_slot *slot)
{
	if (!is_exact)
		return 1;
	slot->random = slot->random * 6364136223846793005u + 1442695040888963407u;
	return slot->random >> 32 & (TIMED_ONE_IN - 1) ? 0 : TIMED_ONE_IN;
}

/*
 * While only one thread has entered the hooks, its records are in order without the clock, and the
 * clock is needed only for the time of day. So a hook scope that is not timed uses a substitute:
 * the time of the thread's last record plus one cycle, or the injector's last heartbeat, whichever
 * is later. The substitute is never ahead of the clock and at most some milliseconds behind it. It
 * rises by at least one cycle with each record, because the reader takes records from two rings in
 * the order of their times.
 *
 * Another thread is counted in state->threads before it emits anything. A thread that has learned
 * of something that the other thread emitted has also seen that count.
 */
static inline bool hook_scope_is_only_thread(const struct hook_scope *scope)
{
	/* orders what this thread learned from other threads before the load of `threads` */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return scope->is_exact && scope->has_slot &&
	       __atomic_load_n(&scope->event.state->threads, __ATOMIC_RELAXED) == 1;
}

static inline uint64_t hook_scope_time_without_clock(const struct hook_scope *scope)
{
	const uint64_t last = __atomic_load_n(&scope->event.slot->last_seen, __ATOMIC_RELAXED) + 1;
	const uint64_t heartbeat =
		__atomic_load_n(&hook_scope_control(scope)->heartbeat, __ATOMIC_RELAXED);

	return clock_is_past(heartbeat, last, 0) ? heartbeat : last;
}

/* Starts the account of the payload's own time. The next record gets the current time. */
static inline void hook_scope_start_clock(struct hook_scope *scope)
{
	scope->call->begun = scope->event.cycles = clock_now(scope->event.state);
	if (scope->has_slot)
		__atomic_store_n(&scope->event.slot->last_seen, scope->event.cycles,
				 __ATOMIC_RELAXED);
}

/* Returns false for the same reason as hook_scope_may_record. */
static inline bool hook_scope_look_at_clock(struct hook_scope *scope)
{
	hook_scope_start_clock(scope);
	if (!clock_is_deadman_due(hook_scope_control(scope), scope->event.cycles))
		return true;
	hook_scope_disarm(scope->event.state, scope->call->words);
	return false;
}

/* The hook scope has raised the count of its scratch, which was 0 before if it is the first. */
static inline void hook_scope_enter(struct hook_scope *scope, bool is_first)
{
	struct hi_scratch *scratch = record_scratch(&scope->event);

	scope->nesting =
		is_first ? NESTING_NONE
			 : nesting_of(scope->event.state, scope->event.thread, scope->call,
				      __atomic_load_n(&scratch->outermost, __ATOMIC_ACQUIRE),
				      scope->call->guard);
	if (scope->nesting == NESTING_NONE)
		nesting_begin(scratch, scope->call);
}

/* To be called before the count is lowered. */
static inline void hook_scope_exit(struct hook_scope *scope)
{
	if (scope->nesting == NESTING_NONE)
		nesting_end(record_scratch(&scope->event));
}

static inline bool hook_scope_is_exact_now(const struct hi_control *control)
{
	return __atomic_load_n(&control->interval, __ATOMIC_RELAXED) <= HI_INTERVAL_EXACT &&
	       !__atomic_load_n(&control->interval_shift, __ATOMIC_RELAXED);
}

__attribute__((always_inline)) static inline bool hook_scope_begin(struct hook_scope *scope,
								   struct hook_call *call)
{
	struct hi_state *state = (struct hi_state *)call->words->state;
	const uint64_t thread = arch_thread_pointer();
	struct hi_thread_slot *slot = thread_slot_find(state, thread);

	scope->has_slot = scope->has_place = true;
	scope->event.state = state;
	scope->event.thread = thread;
	scope->event.slot = slot;
	scope->event.is_alone = slot && thread_slot_is_alone(slot, thread);
	scope->event.cycles = 0;
	scope->call = call;
	scope->returns_by_probe = false;
	scope->is_exact = hook_scope_is_exact_now(hook_scope_control(scope));
	if (!scope->event.is_alone)
		hook_scope_begin_as_guest(scope);
	slot = scope->event.slot;
	scope->weight = hook_scope_weight(scope->is_exact, slot);
	if (scope->weight && !hook_scope_look_at_clock(scope)) {
		hook_scope_leave(scope);
		return false;
	}
	if (scope->event.is_alone) {
		scope->event.scratch = __atomic_load_n(&slot->scratch, __ATOMIC_RELAXED);
		call->guard = &slot->in_flight;
		hook_scope_enter(scope, thread_slot_enter(slot));
	}
	return true;
}

__attribute__((always_inline)) static inline bool hook_scope_may_record(struct hook_scope *scope)
{
	if (scope->event.cycles)
		return true;
	if (!hook_scope_is_only_thread(scope))
		return hook_scope_look_at_clock(scope);
	scope->event.cycles = hook_scope_time_without_clock(scope);
	__atomic_store_n(&scope->event.slot->last_seen, scope->event.cycles, __ATOMIC_RELAXED);
	return true;
}

static inline void hook_scope_account(struct hook_scope *scope)
{
	uint64_t cycles, most;

	if (!scope->weight)
		return;
	cycles = clock_about_now() - scope->call->begun;
	most = HOOK_SCOPE_CYCLES_MAX;
	scope->event.slot->cycles += (cycles < most ? cycles : most) * scope->weight;
}

static inline uint64_t hook_scope_call(struct hook_scope *scope, uint64_t function,
				       uint64_t argument0, uint64_t argument1, uint64_t argument2)
{
	uint64_t value;

	hook_scope_account(scope);
	value = arch_call_original(argument0, argument1, argument2, scope->call->argument[3],
				   function, scope->call);
	scope->event.cycles = 0;
	if (scope->weight)
		hook_scope_start_clock(scope);
	return value;
}

static inline bool hook_scope_is_inner(const struct hook_scope *scope)
{
	const struct hi_gate_words *words = scope->call->words;
	bool is_inner = scope->nesting != NESTING_NONE;

	/* lo < return_address <= hi, as a call may be the last instruction of a function */
	for (unsigned i = 0; i < HI_NESTED_FROM_MAX; i++)
		is_inner |= scope->call->return_address - words->nested_from[i].lo - 1 <
			    words->nested_from[i].hi - words->nested_from[i].lo;
	return is_inner;
}

/* In a pause, too: countdowns go on, so that the samples after it are as good as any other. */
static inline bool hook_scope_is_due(struct hook_scope *scope, uint64_t size)
{
	const bool has_no_countdown =
		scope->is_exact && scope->has_slot && scope->nesting != NESTING_UNKNOWN &&
		!scope->event.slot->interval_shift && !hook_scope_control(scope)->shift_max;

	/* In exact mode no countdown was drawn, and none will be. */
	if (!has_no_countdown)
		return hook_scope_is_countdown_over(scope, size);
	scope->event.interval_shift = 0;
	return !hook_scope_is_inner(scope) && size <= SAMPLE_DISTANCE_MAX;
}

static inline bool hook_scope_is_sample_due(struct hook_scope *scope, uint64_t size)
{
	return hook_scope_is_due(scope, size) &&
	       !__atomic_load_n(&hook_scope_control(scope)->paused, __ATOMIC_RELAXED);
}

static inline struct hook_outcome hook_scope_pass(struct hook_scope *scope)
{
	hook_scope_account(scope);
	hook_scope_exit(scope);
	return HOOK_SCOPE_PASS;
}

static inline struct hook_outcome hook_scope_end(struct hook_scope *scope, uint64_t value)
{
	hook_scope_account(scope);
	hook_scope_exit(scope);
	return (struct hook_outcome){.result = value,
				     .pass = scope->returns_by_probe ? HOOK_TO_PROBE : 0};
}

static inline uint64_t hook_scope_original(struct hook_scope *scope)
{
	const uint64_t *argument = scope->call->argument;

	return hook_scope_call(scope, scope->call->words->original, argument[0], argument[1],
			       argument[2]);
}

#endif
