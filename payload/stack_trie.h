/* SPDX-License-Identifier: MIT */
/*
 * stack_trie.h - walks that were made before, as a tree of frames that all threads share (struct hi_walk_node, hi_wire.h): a stack that is known by number is
 * found again without its frames being written down, hashed and looked up. See stack_trie.c for why that is as safe as to go by the rules.
 *
 * No allocation, no lock, every loop is bounded; safe in a signal handler, and in what it may fork.
 */
#ifndef PAYLOAD_STACK_TRIE_H
#define PAYLOAD_STACK_TRIE_H

#include "arch/arch.h"
#include "frames.h"

/*
 * The id of the caller's stack; 0: it is not known, or not found this way, or walks are not remembered. thread: as for stack_walk(). scratch: says where the
 * stack ends.
 */
uint32_t stack_trie_find(const struct hi_state *state, uint64_t thread, const struct hook_call *call, const struct hi_scratch *scratch);

/* These frames, leaf first, are a stack that came to its proper end, and has this id. Learned if all of them have plain rules, and as far as there is room. */
void stack_trie_add(struct hi_state *state, const uint64_t *frame, uint32_t count, uint32_t id);

#endif
