/* SPDX-License-Identifier: MIT */
/*
 * stack_ids.h - the stacks that a stream has recorded so far (STACK records), by the number under
 * which ALLOC records name them.
 *
 * What a stack's addresses mean depends on the modules of the moment. So the profile's stack that
 * it became is remembered together with the moment. Zero-initialized = empty.
 */
#ifndef HI_STACK_IDS_H
#define HI_STACK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned_stack {
	const uint64_t *frame; /* return addresses, leaf first; owned */
	uint32_t frame_count;
	uint16_t end; /* enum hi_stack_end */
	/* number of size classes seen on it; the caller counts them, up to a limit of its own */
	uint16_t sizes;
	uint32_t profile_stack;
	uint64_t moment; /* the moment for which profile_stack is right; 0 = none */
};
struct stack_ids {
	struct interned_stack *stack;
	size_t count, capacity;
	size_t frame_count; /* of all */
};

/* Adds the next stack, whose number is count + 1. Copies the frames. 0 or -ENOMEM. */
int stack_ids_add(struct stack_ids *ids, const uint64_t *frame, uint32_t frame_count, uint16_t end);
/* NULL: no stack has this number. Valid until the next add. */
struct interned_stack *stack_ids_get(struct stack_ids *ids, uint32_t number);
void stack_ids_close(struct stack_ids *ids);

#endif
