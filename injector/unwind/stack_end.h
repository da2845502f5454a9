/* SPDX-License-Identifier: MIT */
/*
 * stack_end.h - whether a stack that the payload could not follow any further ends there.
 *
 * The first function of a coroutine was not called. The code that prepared the stack (makecontext,
 * make_fcontext, a scheduler's assembly) stored a return address for it, and no unwind information
 * marks this as the end. But the address shows it: the instruction before it in the code is not a
 * call.
 */
#ifndef HI_STACK_END_H
#define HI_STACK_END_H

#include <stdbool.h>

#include "hi_wire.h"
#include "memory.h"

#define STACK_END_KNOWN 256u

/* Cache of results by address; must be zeroed at first. */
struct stack_ends {
	struct {
		uint64_t pc;
		bool is_first;
	} known[STACK_END_KNOWN];
};

/*
 * How a stack ended: the payload's stack_end, except that HI_END_NO_ROW becomes HI_END_COMPLETE
 * where the stack does end there.
 */
uint16_t stack_end_classify(struct stack_ends *ends, const struct memory *memory,
			    uint16_t stack_end, const uint64_t *frame, uint32_t count);

#endif
