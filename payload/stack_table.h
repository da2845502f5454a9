/* SPDX-License-Identifier: MIT */
/*
 * stack_table.h - stacks told once, and known by a number from then on ("stacks" in hi_wire.h). Lock-free, every loop bounded, safe in a signal handler and in
 * what it may fork.
 */
#ifndef PAYLOAD_STACK_TABLE_H
#define PAYLOAD_STACK_TABLE_H

#include <stdbool.h>

#include "stack.h"

/*
 * The id of this stack, which the injector can read by the time this returns. 0: it is not known, and there is no room for one more. *out_is_new: it was not
 * known before.
 */
uint32_t stack_table_id(const struct hi_state *state, const uint64_t *frame, struct stack_end end, bool *out_is_new);

/* To be called as soon as the stack is known: where its id will be looked for. */
void stack_table_prefetch(const struct hi_state *state, struct stack_end end);

#endif
