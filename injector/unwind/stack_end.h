/* SPDX-License-Identifier: MIT */
/*
 * stack_end.h - whether a stack that the payload could not follow any further ends there.
 *
 * The first function of a coroutine was not called. Whoever prepared the stack (makecontext, make_fcontext, a scheduler's assembly) put an address there for it
 * to return to, and no unwind information says that this is the end. But the address gives itself away: what stands before it in the code is no call.
 */
#ifndef HI_STACK_END_H
#define HI_STACK_END_H

#include <stdbool.h>

#include "hi_wire.h"
#include "memory.h"

#define STACK_END_KNOWN 256u

/* What was found out about an address; zeroed to begin with. */
struct stack_ends {
	struct {
		uint64_t pc;
		bool is_first;
	} known[STACK_END_KNOWN];
};

/* How a stack ended, all considered: as the payload says, or HI_END_COMPLETE in place of HI_END_NO_ROW. */
uint16_t stack_end_classify(struct stack_ends *ends, const struct memory *memory, uint16_t stack_end, const uint64_t *frame, uint32_t count);

#endif
