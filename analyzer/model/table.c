/* SPDX-License-Identifier: MIT */
/*
 * table.c - open addressing with linear probing, at most half full. Start at table_next().
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_FIRST_SIZE 64u
#define ARRAY_FIRST_CAPACITY 16u

uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = hash_number(size + 1);

	for (; size >= 8; at += 8, size -= 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		hash = hash_number(hash ^ word);
	}
	while (size--)
		hash = hash_number(hash ^ *at++);
	return hash;
}

static void table_put(struct table_slot *slots, size_t size, struct table_slot entry)
{
	size_t at = entry.hash & (size - 1);

	while (slots[at].index_plus_1)
		at = (at + 1) & (size - 1);
	slots[at] = entry;
}

static int table_grow(struct table *table)
{
	size_t size = table->size ? table->size * 2 : TABLE_FIRST_SIZE;
	struct table_slot *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->size; i++) {
		if (table->slot[i].index_plus_1)
			table_put(slots, size, table->slot[i]);
	}
	free(table->slot);
	table->slot = slots;
	table->size = size;
	return 0;
}

int table_add(struct table *table, uint64_t hash, uint32_t index)
{
	if (index == UINT32_MAX)
		return -ENOMEM;
	if (table->count >= table->size / 2 && table_grow(table))
		return -ENOMEM;
	table_put(table->slot, table->size,
		  (struct table_slot){.hash = (uint32_t)(hash >> 32), .index_plus_1 = index + 1});
	table->count++;
	return 0;
}

void table_close(struct table *table)
{
	free(table->slot);
	*table = (struct table){0};
}

int array_reserve(void *array_pointer, size_t *capacity, size_t count, size_t element_size)
{
	void *array, *grown;
	size_t wanted;

	if (count < *capacity)
		return 0;
	wanted = *capacity ? *capacity * 2 : ARRAY_FIRST_CAPACITY;
	memcpy(&array, array_pointer, sizeof(array));
	grown = reallocarray(array, wanted, element_size);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
