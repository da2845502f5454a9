/* SPDX-License-Identifier: MIT */
/*
 * record.h - the records that the payload emits to the injector: one function for each kind of
 * event. Records that did not fit are counted.
 *
 * Safe in a child that a signal handler forks in the middle of it: the child does not emit the
 * record.
 */
#ifndef PAYLOAD_RECORD_H
#define PAYLOAD_RECORD_H

#include <stdbool.h>

#include "hi_wire.h"
#include "stack.h"

struct record_event {
	struct hi_state *state;
	struct hi_thread_slot *slot; /* the thread's slot, or the slot of a place */
	uint64_t thread;
	/*
	 * when the event happened. Read after everything that the event depends on, and before any
	 * part of the event is emitted
	 */
	uint64_t cycles;
	/*
	 * Of an allocation, as in struct hi_record_alloc. The upper half of interval_shift is its
	 * thinning_key.
	 */
	uint32_t slack;
	uint32_t interval_shift;
	bool is_alone; /* the emitting thread is alone with the slot, and not a guest */
	/* number of the scratch in which the record is built; not valid in a nested hook scope */
	uint32_t scratch;
};

struct record_block {
	uint64_t address;
	uint64_t bytes; /* as requested */
};

/*
 * Records a block that was allocated, with the stack of its caller. The frames are in
 * event->scratch, which must belong to this hook scope. False: the record was dropped.
 */
bool record_alloc(const struct record_event *event, const struct hook_call *call,
		  struct stack_end stack, struct record_block block);
bool record_free(const struct record_event *event, uint64_t address);
bool record_unfree(const struct record_event *event, uint64_t address);
/* Records address space that came or went, without a stack. Works in a nested hook scope, too. */
bool record_mapping(const struct record_event *event, enum hi_mapping_change change,
		    struct record_block block, uint32_t attributes);
/* Records what a function that the user has named does to a block, or a pool. Likewise. */
bool record_named(const struct record_event *event, enum hi_named_change change, uint64_t address,
		  uint64_t pool, uint32_t function);

/* The scratch in which an alloc record is built; see struct hi_scratch. */
static inline struct hi_scratch *record_scratch(const struct record_event *event)
{
	return (struct hi_scratch *)(event->state->scratch +
				     (uint64_t)event->scratch * HI_SCRATCH_BYTES);
}

/*
 * `counter` is one of hi_control.counters. Counts nothing after disarming, or in a forked child:
 * the counters belong to its parent.
 */
void record_count(const struct hi_state *state, uint64_t *counter);
void record_add(const struct hi_state *state, uint64_t *counter, uint64_t count);

#endif
