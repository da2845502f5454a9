/* SPDX-License-Identifier: MIT */
/*
 * stack_table.h - interned stacks: each stack is written once, and named by a number from then on
 * ("stacks" in hi_wire.h). Lock-free, every loop bounded, safe in a signal handler and in a child
 * that the signal handler forks.
 */
#ifndef PAYLOAD_STACK_TABLE_H
#define PAYLOAD_STACK_TABLE_H

#include <stdbool.h>

#include "stack.h"

/*
 * Returns the id of this stack. The injector can read the stack by the time this returns. 0: the
 * stack is not interned, and there is no room for it. *out_is_new: the stack was not interned
 * before.
 */
uint32_t stack_table_id(const struct hi_state *state, const uint64_t *frame, struct stack_end end,
			bool *out_is_new);

/*
 * To be called as soon as the stack is known: prefetches the table entry at which its id will be
 * looked up.
 */
void stack_table_prefetch(const struct hi_state *state, struct stack_end end);

#endif
