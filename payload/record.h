/* SPDX-License-Identifier: MIT */
/*
 * record.h - what the payload tells the injector: one function for each kind of event. Counts what did not fit.
 *
 * Safe in a child that a signal handler forked in the middle of it: what it would have told is not told.
 */
#ifndef PAYLOAD_RECORD_H
#define PAYLOAD_RECORD_H

#include <stdbool.h>

#include "hi_wire.h"
#include "stack.h"

struct record_event {
	struct hi_state *state;
	struct hi_thread_slot *slot; /* of the thread, or one that it borrows */
	uint64_t thread;
	uint64_t cycles; /* when it happened; read when all was done that it follows from, and before any of it is told */
	/* Of an allocation, as in struct hi_record_alloc. */
	uint32_t slack;
	uint16_t interval_shift;
	bool is_alone;    /* whoever tells it is alone with the slot, and not a guest */
	uint32_t scratch; /* number of the one in which it is put together; not that of a nested visit */
};

struct record_block {
	uint64_t address;
	uint64_t bytes; /* as requested */
};

/*
 * A block that was allocated, with the stack of its caller, whose frames are in event->scratch: that must be this visit's own.
 * False: dropped.
 */
bool record_alloc(const struct record_event *event, const struct hook_call *call, struct stack_end stack, struct record_block block);
bool record_free(const struct record_event *event, uint64_t address);
bool record_unfree(const struct record_event *event, uint64_t address);

/* Where an alloc record is put together; see struct hi_scratch. */
static inline struct hi_scratch *record_scratch(const struct record_event *event)
{
	return (struct hi_scratch *)(event->state->scratch + (uint64_t)event->scratch * HI_SCRATCH_BYTES);
}

/* Each counter is one of hi_control.counters. Counts nothing once disarmed, or in a child: the counters are its parent's. */
void record_count(const struct hi_state *state, uint64_t *counter);
void record_add(const struct hi_state *state, uint64_t *counter, uint64_t count);

#endif
