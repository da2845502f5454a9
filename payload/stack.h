/* SPDX-License-Identifier: MIT */
/*
 * stack.h - the call stack of the current thread, as return addresses.
 *
 * The unwinder leaves each frame by the published unwind row that covers its pc. If there is no row
 * (JIT code, a gap), it uses the frame-pointer chain.
 *
 * Safety comes first: a wrong row must cost a stack, never the process. The unwinder reads a word
 * only at an aligned address between the current stack pointer and the end of the region that holds
 * it (or less: see stack.c), and the stack pointer only ever rises. No allocation, no lock, at most
 * HI_FRAMES_MAX steps.
 */
#ifndef PAYLOAD_STACK_H
#define PAYLOAD_STACK_H

#include <stdbool.h>

#include "arch/arch.h"
#include "frames.h"
#include "stack_trie.h"

struct stack_end {
	uint64_t hash; /* of the frames, by frames_hash() */
	/*
	 * not 0: the id of the interned stack (stack_table.h); hash, count and frames are not set
	 * then
	 */
	uint32_t id;
	uint16_t count; /* frames, 1..HI_FRAMES_MAX */
	/*
	 * enum hi_stack_end: why the walk ended; with HI_END_REGION, scratch->unknown_sp says where
	 */
	uint8_t reason;
	/*
	 * the walk came to its proper end by plain rules only: the stack can be given to
	 * stack_trie_add()
	 */
	bool is_plain;
};

/*
 * Writes the caller's return addresses to scratch->frame, beginning with call->return_address; of
 * interpreted frames the methods (HI_FRAME_METHOD).
 * thread: the thread pointer; no frame of the thread's own stack lies above it.
 */
struct stack_end stack_walk(const struct hi_state *state, uint64_t thread,
			    const struct hook_call *call, struct hi_scratch *scratch);

/*
 * Finds the id of the stack in the stack trie, without reading out the frames; if it is not there,
 * does the same as stack_walk().
 */
static inline struct stack_end stack_capture(const struct hi_state *state, uint64_t thread,
					     const struct hook_call *call,
					     struct hi_scratch *scratch)
{
	uint32_t id = stack_trie_find(state, thread, call, scratch);

	return id ? (struct stack_end){.id = id, .reason = HI_END_COMPLETE}
		  : stack_walk(state, thread, call, scratch);
}

#endif
