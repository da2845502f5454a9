/* SPDX-License-Identifier: MIT */
/*
 * walk.h - a walk by rules on its way: what the steps of stack.c and link_step.h have in common.
 * Which words a step may read is at the head of stack.c.
 */
#ifndef PAYLOAD_WALK_H
#define PAYLOAD_WALK_H

#include "arch/arch.h"
#include "frames.h"
#include "rules.h"

#define NO_END ((enum hi_stack_end) - 1)

struct walk {
	const struct hi_state *state;
	struct hi_scratch *scratch;
	uint64_t thread;
	uint64_t stamp; /* the stamp of the directory when the walk began */
	struct registers at;
	uint64_t hash;  /* of the frames so far, by their pcs */
	uint32_t count; /* of the frames in scratch->frame */
	uint64_t top;   /* readable: [at.sp, top) */
	/* not 0: a stack pointer on this stack; no region is known for the stack */
	uint64_t unknown_sp;
	/*
	 * the registers that the last signal interrupted, as the kernel saved them on the stack;
	 * NULL = there was no signal
	 */
	const uint64_t *interrupted;
	/*
	 * code without rows on this stack: [code_lo, code_lo + code_bytes); see hi_control. None on
	 * the thread's own stack
	 */
	uint64_t code_lo, code_bytes;
	/* the walk is on the thread's own stack, not on one that the program may unmap in part */
	bool is_own;
	bool is_guess;    /* the walk reached this frame through a guess */
	bool is_plain;    /* all rules so far were plain */
	bool has_methods; /* methods have taken the place of pcs */
	/*
	 * at.pc is where a signal interrupted the frame; if false, it is a return address, and the
	 * call lies before it
	 */
	bool is_pc_exact;
};

/*
 * This function checks the bounds by the region list. An instrumented build of the tests would add
 * its own idea of the bounds of a stack.
 */
__attribute__((no_sanitize("address"))) static inline bool
read_word(const struct walk *walk, uint64_t address, uint64_t *out_word)
{
	if (address & 7 || address < walk->at.sp || address >= walk->top || walk->top - address < 8)
		return false;
	*out_word = *(const uint64_t *)address;
	return true;
}

/* Goes on with the caller of a frame. */
static inline enum hi_stack_end go_to(struct walk *walk, const struct registers *caller)
{
	walk->at = *caller;
	walk->is_pc_exact = false;
	return caller->pc ? NO_END : HI_END_COMPLETE;
}

#endif
