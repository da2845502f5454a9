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

#include <stdbool.h>

#include "arch/arch.h"
#include "frames.h"
#include "stack_trie.h"

struct stack_end {
	uint64_t hash;  /* of the frames, by frames_hash() */
	uint32_t id;    /* not 0: the stack is known by this number (stack_table.h), and neither hash nor count nor frames are told */
	uint16_t count; /* frames, 1..HI_FRAMES_MAX */
	uint8_t reason; /* enum hi_stack_end: why it stopped there; with HI_END_REGION, scratch->unknown_sp says where */
	bool is_plain;  /* it came to its proper end, and by plain rules: stack_trie_add() may have a use for it */
};

/*
 * Writes the caller's return addresses to scratch->frame, the first of them call->return_address. thread: thread pointer, above which no frame of its stack
 * lies.
 */
struct stack_end stack_walk(const struct hi_state *state, uint64_t thread, const struct hook_call *call, struct hi_scratch *scratch);

/* The same, unless it finds the id of the stack, by a way that leaves the frames alone. */
static inline struct stack_end stack_capture(const struct hi_state *state, uint64_t thread, const struct hook_call *call, struct hi_scratch *scratch)
{
	uint32_t id = stack_trie_find(state, thread, call, scratch);

	return id ? (struct stack_end){.id = id, .reason = HI_END_COMPLETE} : stack_walk(state, thread, call, scratch);
}

#endif
