/* SPDX-License-Identifier: MIT */
/*
 * stack.h - the call stack of the thread that we are in, as return addresses.
 *
 * Each frame is left by the published unwind row that covers its pc; where there is none (JIT code, a gap), by the frame-pointer chain.
 *
 * Safety comes first: a wrong row must cost a stack, never the process. A word is read only at an aligned address between the current stack pointer and the end
 * of the region that holds it (or less: see stack.c), and the stack pointer only ever rises. No allocation, no lock, at most HI_FRAMES_MAX steps.
 */
#ifndef PAYLOAD_STACK_H
#define PAYLOAD_STACK_H

#include "arch/arch.h"
#include "frames.h"

struct stack_end {
	uint32_t count;  /* frames, 1..HI_FRAMES_MAX */
	uint16_t reason; /* enum hi_stack_end: why it stopped there; with HI_END_REGION, scratch->unknown_sp says where */
	uint64_t hash;   /* of the frames, by frames_hash() */
};

/*
 * Writes the caller's return addresses to scratch->frame, the first of them call->return_address. thread: thread pointer, above which no frame of its stack
 * lies.
 */
struct stack_end stack_capture(const struct hi_state *state, uint64_t thread, const struct hook_call *call, struct hi_scratch *scratch);

/* To be called after that, if the trail that lies in the scratch is wanted: so that it takes less to walk the same stack again. */
void stack_learn(const struct hi_state *state, const struct hook_call *call, struct hi_scratch *scratch);

#endif
