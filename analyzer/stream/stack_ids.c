/* SPDX-License-Identifier: MIT */
/* stack_ids.c - see stack_ids.h. The numbers are dense, so the table is an array. */
#include "stack_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int stack_ids_add(struct stack_ids *ids, const uint64_t *frame, uint32_t frame_count, uint16_t end)
{
	uint64_t *copy = NULL;

	if (array_reserve(&ids->stack, &ids->capacity, ids->count, sizeof(*ids->stack)))
		return -ENOMEM;
	if (frame_count) {
		copy = malloc(frame_count * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, frame, frame_count * sizeof(*copy));
	}
	ids->stack[ids->count++] =
		(struct interned_stack){.frame = copy, .frame_count = frame_count, .end = end};
	ids->frame_count += frame_count;
	return 0;
}

struct interned_stack *stack_ids_get(struct stack_ids *ids, uint32_t number)
{
	return number && number <= ids->count ? &ids->stack[number - 1] : NULL;
}

void stack_ids_close(struct stack_ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		free((void *)ids->stack[i].frame);
	free(ids->stack);
	*ids = (struct stack_ids){0};
}
