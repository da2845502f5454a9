/* SPDX-License-Identifier: MIT */
/*
 * visit.h - a VISIT is one pass through a handler of hooks.c. visit_begin raises a count, so that detach knows that somebody is inside; the stub lowers it.
 * Then the handler either passes (the stub jumps to the original, nothing of us is left on the stack) or calls the original itself and returns its result.
 *
 * NESTED calls (the original reaches another hooked function, or a signal handler interrupts a visit) are not sampled, for their bytes belong to the outer call
 * or are too few to matter; what they free is noticed like any other.
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

#define VISIT_CYCLES_MAX 300000u /* some 0.1 ms; a visit that took longer was interrupted, and that time went to others */

struct visit {
	struct record_event event; /* its cycles: 0 = not read yet */
	struct hook_call *call;
	bool has_slot;  /* the slot's countdown is this visit's to run down */
	bool has_place; /* it is counted where its nested calls are told from those of others, and has a scratch; else nothing is sampled */
	bool is_exact;  /* each call is a sample */
	bool is_nested;
	uint8_t weight; /* the time that this visit takes counts so many times; 0 = it is not timed */
};

static const struct hook_outcome VISIT_PASS = {.pass = 1};

static inline struct hi_control *visit_control(const struct visit *visit)
{
	return (struct hi_control *)visit->event.state->control;
}

/* False: it passes, and nobody is inside. */
__attribute__((always_inline)) static inline bool visit_begin(struct visit *visit, struct hook_call *call);
/* Calls the original, or another function in its place; its time is not ours. Functions of fewer arguments ignore the rest. */
static inline uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument0, uint64_t argument1, uint64_t argument2);
/* Whether an allocator's function that is hooked as well called this one: its caller's bytes are these. */
static inline bool visit_is_inner(const struct visit *visit);
/* Whether this allocation is a sample; if its countdown has run out, a new one is drawn in any case. With --sample 1 it always has. */
static inline bool visit_is_sample_due(struct visit *visit, uint64_t size);
/*
 * Before anything is told: event.cycles are those of now, unless they were read since the original returned, or the visit began. False: the injector has been
 * silent for too long, and nothing is told from now on.
 */
__attribute__((always_inline)) static inline bool visit_may_tell(struct visit *visit);
/* The countdown to the thread's next sample, anew. */
void visit_draw(struct hi_state *state, struct hi_thread_slot *slot, uint64_t thread);

/* Where all goes as it always does. What remains is out of line: */

#define TIMED_ONE_IN 64u /* a power of two */

/* The injector has been silent: nothing is sampled from now on. */
void visit_disarm(struct hi_state *state, struct hi_gate_words *words);
/*
 * For a thread that is not alone with the slot that the event names, or has none (NULL). Claims one for it; if it is not alone with that either, it comes in as
 * a guest, and is counted.
 */
void visit_begin_as_guest(struct visit *visit);
/* A guest that has come in goes again. */
void visit_leave(struct visit *visit);
bool visit_is_countdown_over(struct visit *visit, uint64_t size);

/*
 * Where each call is a visit, reading the clock for the account is a good part of what there is to account for. So one visit in TIMED_ONE_IN is timed, for all:
 * chosen by chance, which no rhythm of the program can follow (Knuth's generator of MMIX; its upper bits are the good ones).
 */
static inline uint8_t visit_weight(bool is_exact, struct hi_thread_slot *slot)
{
	if (!is_exact)
		return 1;
	slot->random = slot->random * 6364136223846793005u + 1442695040888963407u;
	return slot->random >> 32 & (TIMED_ONE_IN - 1) ? 0 : TIMED_ONE_IN;
}

/*
 * As long as one thread alone has come to the hooks, its records lie in one order anyway, and of the clock only the time of day is wanted. So where the visit
 * is not timed it goes by the last one that was, or by when the injector last looked in, whichever is later: never ahead of the clock, some milliseconds behind
 * it at most, and each time a cycle more, as records in two rings are told in the order of their times. Another thread is counted before it tells anything, and
 * whoever has learned of what it told has seen that count.
 */
static inline bool visit_is_only_thread(const struct visit *visit)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was learned of was learned before */
	return visit->is_exact && visit->has_slot && __atomic_load_n(&visit->event.state->threads, __ATOMIC_RELAXED) == 1;
}

static inline uint64_t visit_time_without_clock(const struct visit *visit)
{
	const uint64_t last = __atomic_load_n(&visit->event.slot->last_seen, __ATOMIC_RELAXED) + 1;
	const uint64_t heartbeat = __atomic_load_n(&visit_control(visit)->heartbeat, __ATOMIC_RELAXED);

	return clock_is_past(heartbeat, last, 0) ? heartbeat : last;
}

/* Our own time runs from now on, and what is told next is of now. */
static inline void visit_start_clock(struct visit *visit)
{
	visit->call->begun = visit->event.cycles = clock_now(visit->event.state);
	if (visit->has_slot)
		__atomic_store_n(&visit->event.slot->last_seen, visit->event.cycles, __ATOMIC_RELAXED);
}

/* False: as visit_may_tell. */
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

	for (unsigned i = 0; i < HI_NESTED_FROM_MAX; i++) /* a call may be the last instruction of a function */
		is_inner |= visit->call->return_address - words->nested_from[i].lo - 1 < words->nested_from[i].hi - words->nested_from[i].lo;
	return is_inner;
}

static inline bool visit_is_sample_due(struct visit *visit, uint64_t size)
{
	const bool has_no_countdown = visit->is_exact && visit->has_slot && visit->has_place && !visit->event.slot->interval_shift &&
				      !__atomic_load_n(&visit_control(visit)->interval_shift, __ATOMIC_RELAXED);

	/* Nothing was drawn, and nothing will be. */
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
