/* SPDX-License-Identifier: MIT */
/*
 * stack_end.h - whether a stack that the payload could not follow any further ends there.
 *
 * The first function of a coroutine was not called. Whoever prepared the stack (makecontext, make_fcontext, a scheduler's assembly) put an address there for it to return to, and no unwind information
 * says that this is the end. But the address gives itself away: what stands before it in the code is no call.
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

/* How the stack of this record ended, all considered: record->stack_end, or HI_END_COMPLETE in place of HI_END_NO_ROW. */
enum hi_stack_end stack_end_judge(struct stack_ends *ends, const struct memory *memory, const struct hi_record_alloc *record);

#endif
