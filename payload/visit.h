/* SPDX-License-Identifier: MIT */
/*
 * visit.h - a VISIT is one passage of a thread through a handler of hooks.c.
 *
 * visit_begin raises a count, so that detach knows that a thread is inside; the stub of the gate
 * lowers it again. The handler ends in one of two ways. Either it passes: the stub jumps to the
 * original, and leaves nothing of the payload on the stack. Or the handler calls the original
 * itself and returns its result.
 *
 * NESTED calls are not sampled. A call is nested if the original reaches another hooked function,
 * or if a signal handler interrupts a visit. Its bytes belong to the outer call, or are too few to
 * matter. A free in a nested call is recorded like any other.
 */
#ifndef PAYLOAD_VISIT_H
#define PAYLOAD_VISIT_H

#include <stdbool.h>

#include "clock.h"
#include "arch/arch.h"
#include "place.h"
#include "record.h"
#include "sample.h"
#include "thread_slot.h"

/* some 0.1 ms. A visit that took longer was interrupted, and others used that time */
#define VISIT_CYCLES_MAX 300000u

struct visit {
	struct record_event event; /* event.cycles: 0 = the clock was not read yet */
	struct hook_call *call;
	bool has_slot; /* this visit may subtract from the slot's countdown */
	/*
	 * the visit is counted in in_flight of its slot or in a place, where its nested calls can
	 * be distinguished from calls of other threads, and it has a scratch. If false, nothing is
	 * sampled
	 */
	bool has_place;
	bool is_exact; /* every call is a sample */
	bool is_nested;
	/*
	 * factor by which the time of this visit is multiplied for the account; 0 = the visit is
	 * not timed
	 */
	uint8_t weight;
};

static const struct hook_outcome VISIT_PASS = {.pass = 1};

static inline struct hi_control *visit_control(const struct visit *visit)
{
	return (struct hi_control *)visit->event.state->control;
}

/* False: the handler must pass, and the thread is not counted as inside. */
__attribute__((always_inline)) static inline bool visit_begin(struct visit *visit, struct hook_call *call);
/*
 * Calls the original, or another function instead of it. The time that it takes is not counted as
 * the payload's. A function with fewer arguments ignores the rest.
 */
static inline uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument0, uint64_t argument1, uint64_t argument2);
/*
 * Whether another hooked function of the allocator called this one. The bytes of this call then
 * belong to that caller.
 */
static inline bool visit_is_inner(const struct visit *visit);
/*
 * Whether this allocation is a sample. If the countdown has run out, a new one is drawn in any
 * case. With --sample 1 the countdown has always run out.
 */
static inline bool visit_is_sample_due(struct visit *visit, uint64_t size);
/*
 * To be called before anything is recorded. Sets event.cycles to the current time, unless the clock
 * was read since the original returned or, before that, since the visit began. False: the injector
 * has been silent for too long, and nothing may be recorded from now on.
 */
__attribute__((always_inline)) static inline bool visit_may_tell(struct visit *visit);
/* Draws a new countdown to the thread's next sample. */
void visit_draw(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread);

/*
 * The functions below are the common path. The functions that are rarely needed are out of line in
 * visit.c:
 */

#define TIMED_ONE_IN 64u /* a power of two */

/* To be called when the injector has been silent for too long: nothing is sampled from now on. */
void visit_disarm(struct hi_state *state, struct hi_gate_words *words);
/*
 * For a thread that is not alone with the slot in `event`, or for which `event` has no slot (NULL).
 * Claims a slot for the thread. If the thread is not alone with that slot either, the visit begins
 * as a guest, and is counted.
 */
void visit_begin_as_guest(struct visit *visit);
/* Ends the visit of a guest: its count is lowered again. */
void visit_leave(struct visit *visit);
bool visit_is_countdown_over(struct visit *visit, uint64_t size);

/*
 * If every call is a visit, reading the clock for the account of the payload's time is a large part
 * of that time. So only one visit in TIMED_ONE_IN is timed, and counts for all of them. It is
 * chosen at random, so that no regular pattern in the program can coincide with the choice. (The
 * generator is Knuth's for MMIX; its upper bits are the good ones.)
 */
static inline uint8_t visit_weight(bool is_exact, struct hi_thread_slot *slot)
{
	if (!is_exact)
		return 1;
	slot->random = slot->random * 6364136223846793005u + 1442695040888963407u;
	return slot->random >> 32 & (TIMED_ONE_IN - 1) ? 0 : TIMED_ONE_IN;
}

/*
 * While only one thread has entered the hooks, its records are in order without the clock, and the
 * clock is needed only for the time of day. So a visit that is not timed uses a substitute: the
 * time of the thread's last record plus one cycle, or the injector's last heartbeat, whichever is
 * later. The substitute is never ahead of the clock and at most some milliseconds behind it. It
 * rises by at least one cycle with each record, because the reader takes records from two rings in
 * the order of their times.
 *
 * Another thread is counted in state->threads before it emits anything. A thread that has learned
 * of something that the other thread emitted has also seen that count.
 */
static inline bool visit_is_only_thread(const struct visit *visit)
{
	/* orders what this thread learned from other threads before the load of `threads` */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return visit->is_exact && visit->has_slot && __atomic_load_n(&visit->event.state->threads, __ATOMIC_RELAXED) == 1;
}

static inline uint64_t visit_time_without_clock(const struct visit *visit)
{
	const uint64_t last = __atomic_load_n(&visit->event.slot->last_seen, __ATOMIC_RELAXED) + 1;
	const uint64_t heartbeat = __atomic_load_n(&visit_control(visit)->heartbeat, __ATOMIC_RELAXED);

	return clock_is_past(heartbeat, last, 0) ? heartbeat : last;
}

/* Starts the account of the payload's own time. The next record gets the current time. */
static inline void visit_start_clock(struct visit *visit)
{
	visit->call->begun = visit->event.cycles = clock_now(visit->event.state);
	if (visit->has_slot)
		__atomic_store_n(&visit->event.slot->last_seen, visit->event.cycles, __ATOMIC_RELAXED);
}

/* Returns false for the same reason as visit_may_tell. */
static inline bool visit_look_at_clock(struct visit *visit)
{
	visit_start_clock(visit);
	if (!clock_is_deadman_due(visit_control(visit), visit->event.cycles))
		return true;
	visit_disarm(visit->event.state, visit->call->words);
	return false;
}

__attribute__((always_inline)) static inline bool visit_begin(struct visit *visit, struct hook_call *call)
{
	struct hi_state *state = (struct hi_state *)call->words->state;
	const uint64_t thread = arch_thread_pointer();
	struct hi_thread_slot *slot = thread_slot_find(state, thread);

	visit->has_slot = visit->has_place = true;
	visit->event.state = state;
	visit->event.thread = thread;
	visit->event.slot = slot;
	visit->event.is_alone = slot && thread_slot_is_alone(slot, thread);
	visit->event.cycles = 0;
	visit->call = call;
	visit->is_exact = __atomic_load_n(&visit_control(visit)->interval, __ATOMIC_RELAXED) <= 1;
	if (!visit->event.is_alone)
		visit_begin_as_guest(visit);
	slot = visit->event.slot;
	visit->weight = visit_weight(visit->is_exact, slot);
	if (visit->weight && !visit_look_at_clock(visit)) {
		visit_leave(visit);
		return false;
	}
	if (visit->event.is_alone) {
		visit->event.scratch = __atomic_load_n(&slot->scratch, __ATOMIC_RELAXED);
		call->guard = &slot->in_flight;
		visit->is_nested = !thread_slot_enter(slot);
	}
	return true;
}

__attribute__((always_inline)) static inline bool visit_may_tell(struct visit *visit)
{
	if (visit->event.cycles)
		return true;
	if (!visit_is_only_thread(visit))
		return visit_look_at_clock(visit);
	visit->event.cycles = visit_time_without_clock(visit);
	__atomic_store_n(&visit->event.slot->last_seen, visit->event.cycles, __ATOMIC_RELAXED);
	return true;
}

static inline void visit_account(struct visit *visit)
{
	uint64_t cycles;

	if (!visit->weight)
		return;
	cycles = clock_about_now() - visit->call->begun;
	visit->event.slot->cycles += (cycles < VISIT_CYCLES_MAX ? cycles : VISIT_CYCLES_MAX) * visit->weight;
}

static inline uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument0, uint64_t argument1, uint64_t argument2)
{
	uint64_t value;

	visit_account(visit);
	value = arch_call_original(argument0, argument1, argument2, visit->call->argument[3], function, visit->call);
	visit->event.cycles = 0;
	if (visit->weight)
		visit_start_clock(visit);
	return value;
}

static inline bool visit_is_inner(const struct visit *visit)
{
	const struct hi_gate_words *words = visit->call->words;
	bool is_inner = visit->is_nested;

	/* lo < return_address <= hi, as a call may be the last instruction of a function */
	for (unsigned i = 0; i < HI_NESTED_FROM_MAX; i++)
		is_inner |= visit->call->return_address - words->nested_from[i].lo - 1 < words->nested_from[i].hi - words->nested_from[i].lo;
	return is_inner;
}

static inline bool visit_is_sample_due(struct visit *visit, uint64_t size)
{
	const bool has_no_countdown = visit->is_exact && visit->has_slot && visit->has_place && !visit->event.slot->interval_shift &&
				      !__atomic_load_n(&visit_control(visit)->interval_shift, __ATOMIC_RELAXED);

	/* In exact mode no countdown was drawn, and none will be. */
	if (!has_no_countdown)
		return visit_is_countdown_over(visit, size);
	visit->event.interval_shift = 0;
	return !visit_is_inner(visit) && size <= SAMPLE_DISTANCE_MAX;
}

static inline struct hook_outcome visit_pass(struct visit *visit)
{
	visit_account(visit);
	return VISIT_PASS;
}

static inline struct hook_outcome visit_end(struct visit *visit, uint64_t value)
{
	visit_account(visit);
	return (struct hook_outcome){.result = value};
}

static inline uint64_t visit_original(struct visit *visit)
{
	const uint64_t *argument = visit->call->argument;

	return visit_call(visit, visit->call->words->original, argument[0], argument[1], argument[2]);
}

#endif
