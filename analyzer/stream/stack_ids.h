/* SPDX-License-Identifier: MIT */
/*
 * stack_ids.h - the stacks that a stream has told so far (STACK records), by the number under which ALLOC records name them.
 *
 * What a stack's addresses mean depends on the modules of the moment, so the profile's stack that it became is remembered together with the moment.
 * Zero-initialized = empty.
 */
#ifndef HI_STACK_IDS_H
#define HI_STACK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned_stack {
	const uint64_t *frame; /* return addresses, leaf first; owned */
	uint32_t frame_count;
	uint16_t end;   /* enum hi_stack_end */
	uint16_t sizes; /* how many size classes were met on it, as far as the caller cares to count them */
	uint32_t profile_stack;
	uint64_t moment; /* when profile_stack was right; 0 = never */
};
struct stack_ids {
	struct interned_stack *stack;
	size_t count, capacity;
	size_t frame_count; /* of all */
};

/* The next one, whose number is count + 1. Frames are copied. 0 or -ENOMEM. */
int stack_ids_add(struct stack_ids *told, const uint64_t *frame, uint32_t frame_count, uint16_t end);
/* NULL: no such number was told. Valid until the next add. */
struct interned_stack *stack_ids_get(struct stack_ids *told, uint32_t number);
void stack_ids_close(struct stack_ids *told);

#endif
