/* SPDX-License-Identifier: MIT */
/*
 * link_step.h - steps of the walk by rows of kinds that only a CPU has whose calls leave the return
 * address in a register. Included by stack.c alone.
 */
#ifndef PAYLOAD_LINK_STEP_H
#define PAYLOAD_LINK_STEP_H

#include "walk.h"

/*
 * Leaves the frame that a signal interrupted while the return address was in its register. Here sp
 * may stay; but that is so of one frame for each signal.
 */
static inline enum hi_stack_end step_by_link(struct walk *walk, struct rule rule)
{
	struct registers caller = {.sp = walk->at.sp + 8 * (int64_t)rule.cfa, .bp = walk->at.bp};

	if (rule.cfa < 0 || caller.sp & 7 || caller.sp > walk->top)
		return HI_END_BAD_FRAME;
	caller.pc = arch_plain_address(walk->interrupted[arch_signal_frame().link / 8]);
	return go_to(walk, &caller);
}

/* Leaves a frame whose row says where the return address is, and perhaps bp below it. */
static inline enum hi_stack_end step_by_place(struct walk *walk, struct rule rule)
{
	const uint64_t base = rule.kind == HI_UNWIND_BP_RECORD ? walk->at.bp : walk->at.sp;
	struct registers caller = {.sp = base + 8 * (int64_t)rule.cfa, .bp = walk->at.bp};
	uint64_t place = (rule.bp_slot < 0 ? caller.sp : base) + 8 * (int64_t)rule.bp_slot;

	if (rule.kind != HI_UNWIND_ALONE) {
		if (!read_word(walk, place, &caller.bp))
			return HI_END_BAD_FRAME;
		place += 8;
	}
	if (caller.sp > walk->top || caller.sp <= place || !read_word(walk, place, &caller.pc))
		return HI_END_BAD_FRAME;
	caller.pc = arch_plain_address(caller.pc);
	return go_to(walk, &caller);
}

/*
 * Leaves Go's frame from whose stack C was called: all of it are x30 at sp, and x29 below that, as
 * in any frame of Go without variables.
 */
static inline enum hi_stack_end step_from_go(struct walk *walk)
{
	return step_by_place(walk, (struct rule){.kind = HI_UNWIND_ALONE, .cfa = 2});
}

/* False: the row is of no use here; as if there were none. */
static inline bool link_step(struct walk *walk, struct rule rule, enum hi_stack_end *out_end)
{
	switch (rule.kind) {
	case HI_UNWIND_BP_RECORD:
		*out_end = step_by_place(walk, rule);
		return true;
	case HI_UNWIND_SP_RECORD:
	case HI_UNWIND_ALONE:
		/* a guess may have left sp unknown */
		if (walk->is_guess)
			return false;
		*out_end = step_by_place(walk, rule);
		return true;
	case HI_UNWIND_LINK:
		if (walk->is_guess || !walk->interrupted || !walk->is_pc_exact)
			return false;
		*out_end = step_by_link(walk, rule);
		return true;
	default:
		return false;
	}
}

#endif
