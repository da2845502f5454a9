/* SPDX-License-Identifier: MIT */
/* stack_ids.c - see stack_ids.h. The numbers are dense, so the table is an array. */
#include "stack_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int stack_ids_add(struct stack_ids *told, const uint64_t *frame, uint32_t frame_count, uint16_t end)
{
	uint64_t *copy = NULL;

	if (array_reserve(&told->stack, &told->capacity, told->count, sizeof(*told->stack)))
		return -ENOMEM;
	if (frame_count) {
		copy = malloc(frame_count * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, frame, frame_count * sizeof(*copy));
	}
	told->stack[told->count++] = (struct interned_stack){.frame = copy, .frame_count = frame_count, .end = end};
	told->frame_count += frame_count;
	return 0;
}

struct interned_stack *stack_ids_get(struct stack_ids *told, uint32_t number)
{
	return number && number <= told->count ? &told->stack[number - 1] : NULL;
}

void stack_ids_close(struct stack_ids *told)
{
	for (size_t i = 0; i < told->count; i++)
		free((void *)told->stack[i].frame);
	free(told->stack);
	*told = (struct stack_ids){0};
}
