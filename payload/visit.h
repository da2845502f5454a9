/* SPDX-License-Identifier: MIT */
/*
 * visit.h - a VISIT is one pass through a handler of hooks.c. visit_begin raises the count of the guard slot, so that detach knows that somebody is inside; the
 * stub lowers it. Then the handler either passes (the stub jumps to the original, nothing of us is left on the stack) or calls the original itself and returns
 * its result.
 *
 * NESTED calls (the original reaches another hooked function, or a signal handler interrupts a visit) are not sampled, for their bytes belong to the outer call
 * or are too few to matter; what they free is noticed like any other.
 */
#ifndef PAYLOAD_VISIT_H
#define PAYLOAD_VISIT_H

#include <stdbool.h>

#include "clock.h"
#include "arch/arch.h"
#include "record.h"
#include "thread_slot.h"

#define VISIT_CYCLES_MAX 300000u /* some 0.1 ms; a visit that took longer was interrupted, and that time went to others */
#define VISIT_NO_CLOCK_YET 0u

struct visit {
	struct record_event event; /* its cycles: when our own code began to run */
	struct hook_call *call;
	bool has_slot; /* the slot is the thread's own; else there was none to be had, and nothing is sampled */
	bool is_exact; /* each call is a sample */
	bool is_nested;
	uint8_t weight; /* the time that this visit takes counts so many times */
};

static const struct hook_outcome VISIT_PASS = {.pass = 1};

/* now: in order with other threads, where a record may be told by that time; or VISIT_NO_CLOCK_YET. False: it passes, and nobody is inside. */
bool visit_begin(struct visit *visit, struct hook_call *call, uint64_t now);
/* Calls the original, or another function in its place; its time is not ours. Functions of fewer arguments ignore the rest. */
uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument1, uint64_t argument2);
/* Whether this allocation is a sample; if its countdown has run out, a new one is drawn in any case. With --sample 1 it always has. */
bool visit_is_sample_due(struct visit *visit, uint64_t size);
/* The countdown to the thread's next sample, anew. The visit has a slot. */
void visit_draw(const struct visit *visit);
/* The injector has been silent for too long: nothing is sampled from now on. */
void visit_disarm(struct visit *visit);

static inline struct hi_control *visit_control(const struct visit *visit)
{
	return (struct hi_control *)visit->event.state->control;
}

static inline uint64_t visit_clock(const struct hook_call *call)
{
	return clock_now((const struct hi_state *)call->words->state);
}

static inline void visit_account(struct visit *visit)
{
	uint64_t cycles;

	if (!visit->weight)
		return;
	cycles = clock_about_now() - visit->event.cycles;
	visit->event.slot->cycles += (cycles < VISIT_CYCLES_MAX ? cycles : VISIT_CYCLES_MAX) * visit->weight;
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
	return visit_call(visit, visit->call->words->original, visit->call->argument[1], visit->call->argument[2]);
}

#endif
