/* SPDX-License-Identifier: MIT */
/*
 * stack.h - the call stack of the thread that we are in, as return addresses.
 *
 * Each frame is left by the published unwind row that covers its pc; where there is none (JIT code, a gap), by the frame-pointer chain.
 *
 * Safety comes first: a wrong row must cost a stack, never the process. A word is read only at an aligned address between the current stack pointer and the end
 * of the region that holds it, and the stack pointer only ever rises. No allocation, no lock, at most HI_FRAMES_MAX steps.
 */
#ifndef PAYLOAD_STACK_H
#define PAYLOAD_STACK_H

#include "hi_wire.h"

struct stack_registers {
	uint64_t pc, sp, bp;
};

/*
 * Writes 1..HI_FRAMES_MAX frames, the first of them from.pc, and says why it stopped. thread: thread pointer, above which no frame of its stack lies.
 * HI_END_REGION: *out_unknown is the stack pointer that lies in no region.
 */
enum hi_stack_end stack_capture(const struct hi_state *state, uint64_t thread, struct stack_registers from, uint64_t frame[HI_FRAMES_MAX], uint32_t *out_count,
				uint64_t *out_unknown);

#endif
