/* SPDX-License-Identifier: MIT */
/* told_stacks.c - see told_stacks.h. Numbers are dense, so an array it is. */
#include "told_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int told_stacks_add(struct told_stacks *told, const uint64_t *frame, uint32_t frame_count, uint16_t end)
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
	told->stack[told->count++] = (struct told_stack){.frame = copy, .frame_count = frame_count, .end = end};
	told->frame_count += frame_count;
	return 0;
}

struct told_stack *told_stacks_get(struct told_stacks *told, uint32_t number)
{
	return number && number <= told->count ? &told->stack[number - 1] : NULL;
}

void told_stacks_close(struct told_stacks *told)
{
	for (size_t i = 0; i < told->count; i++)
		free((void *)told->stack[i].frame);
	free(told->stack);
	*told = (struct told_stacks){0};
}
