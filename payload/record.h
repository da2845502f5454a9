/* SPDX-License-Identifier: MIT */
/*
 * record.h - what the payload tells the injector: one function for each kind of event. Counts what it wrote and what did not fit.
 *
 * Needs armed to have been seen non-zero: the control block and the ring are absent in a forked child.
 */
#ifndef PAYLOAD_RECORD_H
#define PAYLOAD_RECORD_H

#include <stdbool.h>

#include "hi_wire.h"
#include "stack.h"

struct record_event {
	const struct hi_state *state;
	struct hi_thread_slot *slot; /* of the thread, or one that it borrows */
	uint64_t thread;
	uint64_t cycles; /* when it happened */
};

struct record_block {
	uint64_t address;
	uint64_t bytes;
	uint32_t function; /* enum hi_function */
};

/* With the stack at `caller`. False: dropped. Uses more than a kilobyte of stack: not to be inlined into a frame that calls the application. */
bool record_alloc(const struct record_event *event, const struct record_block *block, struct stack_registers caller);
bool record_free(const struct record_event *event, uint64_t address);
bool record_unfree(const struct record_event *event, uint64_t address);

/* Each counter is one of hi_control.counters. */
void record_count(uint64_t *counter);

#endif
