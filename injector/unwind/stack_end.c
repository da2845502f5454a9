/* SPDX-License-Identifier: MIT */
/*
 * stack_end.c - see stack_end.h.
 *
 * Applies only if all frames are certain: after a guess the last frame may be any word of the
 * stack. Two more kinds of address do not follow a call: the trampoline to which a signal handler
 * returns, and the address where the signal interrupted the code. The code of the trampoline
 * identifies both.
 */
#include "stack_end.h"

#include "arch.h"

static bool is_trampoline(const struct memory *memory, remote_addr pc)
{
	uint8_t code[ARCH_GADGET_MAX];

	return !memory_read(memory, pc, code, sizeof(code)) &&
	       arch_find_sigreturn(code, sizeof(code)) == 0;
}

/* Does the address not follow a call instruction? False as well if the code cannot be read. */
static bool is_made_up(const struct memory *memory, remote_addr pc)
{
	uint8_t before[ARCH_CALL_MAX];

	return !memory_read(memory, pc - sizeof(before), before, sizeof(before)) &&
	       !arch_ends_in_call(before);
}

uint16_t stack_end_classify(struct stack_ends *ends, const struct memory *memory,
			    uint16_t stack_end, const uint64_t *frame, uint32_t count)
{
	if (stack_end != HI_END_NO_ROW || count < 2)
		return stack_end;
	const uint64_t pc = frame[count - 1];
	typeof(&ends->known[0]) known = &ends->known[pc % STACK_END_KNOWN];
	if (known->pc != pc) {
		known->pc = pc;
		known->is_first = is_made_up(memory, pc) && !is_trampoline(memory, pc);
	}
	return known->is_first && !is_trampoline(memory, frame[count - 2]) ? HI_END_COMPLETE
									   : HI_END_NO_ROW;
}
