/* SPDX-License-Identifier: MIT */
/* frame_table.c - open addressing with linear probing, at most half full. See frame_table.h. */
#include "frame_table.h"

#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define FIRST_SIZE 64u

static size_t first_slot_of(const struct frame_table *table, uint64_t address, int32_t module)
{
	return hash_number(address ^ (uint64_t)(uint32_t)module << 32) & (table->size - 1);
}

/* The slot of the frame, or the empty one where it belongs. The table must have a slot. */
static struct frame_slot *slot_of(const struct frame_table *table, uint64_t address, int32_t module)
{
	size_t at = first_slot_of(table, address, module);

	while (table->slot[at].index_plus_1 &&
	       (table->slot[at].address != address || table->slot[at].module != module))
		at = (at + 1) & (table->size - 1);
	return &table->slot[at];
}

void frame_table_prefetch(const struct frame_table *table, uint64_t address, int32_t module)
{
	if (table->size)
		__builtin_prefetch(&table->slot[first_slot_of(table, address, module)]);
}

bool frame_table_find(const struct frame_table *table, uint64_t address, int32_t module,
		      uint32_t *out_index)
{
	const struct frame_slot *slot = table->size ? slot_of(table, address, module) : NULL;

	if (!slot || !slot->index_plus_1)
		return false;
	*out_index = slot->index_plus_1 - 1;
	return true;
}

static int grow(struct frame_table *table)
{
	struct frame_table grown = {.size = table->size ? table->size * 2 : FIRST_SIZE,
				    .count = table->count};

	grown.slot = calloc(grown.size, sizeof(*grown.slot));
	if (!grown.slot)
		return -ENOMEM;
	for (size_t i = 0; i < table->size; i++) {
		const struct frame_slot *slot = &table->slot[i];

		if (slot->index_plus_1)
			*slot_of(&grown, slot->address, slot->module) = *slot;
	}
	free(table->slot);
	*table = grown;
	return 0;
}

int frame_table_add(struct frame_table *table, uint64_t address, int32_t module, uint32_t index)
{
	if (index == UINT32_MAX || (table->count >= table->size / 2 && grow(table)))
		return -ENOMEM;
	*slot_of(table, address, module) = (struct frame_slot){
		.address = address, .module = module, .index_plus_1 = index + 1};
	table->count++;
	return 0;
}

void frame_table_close(struct frame_table *table)
{
	free(table->slot);
	*table = (struct frame_table){0};
}
