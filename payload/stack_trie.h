/* SPDX-License-Identifier: MIT */
/*
 * stack_trie.h - the stack trie: earlier stack walks, as a tree of frames that all threads share
 * (struct hi_walk_node, hi_wire.h). It finds the id of a known stack without storing, hashing and
 * looking up its frames. stack_trie.c explains why that is as safe as a walk by the rules.
 *
 * No allocation, no lock, every loop is bounded. Safe in a signal handler, and in a child that the
 * signal handler forks.
 */
#ifndef PAYLOAD_STACK_TRIE_H
#define PAYLOAD_STACK_TRIE_H

#include "arch/arch.h"
#include "frames.h"

/*
 * Returns the id of the caller's stack. 0: the stack is not known, or not found in the trie, or
 * there is no trie. thread: as for stack_walk(). scratch: says where the stack ends.
 */
uint32_t stack_trie_find(const struct hi_state *state, uint64_t thread,
			 const struct hook_call *call, const struct hi_scratch *scratch);

/*
 * Adds a stack to the trie. The frames, leaf first, must be a stack that came to its proper end and
 * has this id. Frames are added as long as their rules are plain and there is room.
 */
void stack_trie_add(struct hi_state *state, const uint64_t *frame, uint32_t count, uint32_t id);

#endif
