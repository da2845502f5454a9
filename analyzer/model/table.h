/* SPDX-License-Identifier: MIT */
/*
 * table.h - a hash table of array indices: how the model finds the one copy of a frame, a stack, a
 * row, a string.
 *
 * The things themselves live in arrays of the caller. The table stores (hash, index) and knows
 * nothing else, so a look-up walks the candidates and the caller compares:
 *
 *     struct table_cursor cursor = table_seek(&table, hash);
 *     while (table_next(&table, &cursor, &index))
 *             if (same(thing[index], wanted))
 *                     return index;
 *
 * Nothing is ever removed. Zero-initialized = empty.
 */
#ifndef HI_TABLE_H
#define HI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint32_t hash;
	uint32_t index_plus_1; /* 0 = empty */
};
struct table {
	struct table_slot *slot;
	size_t size; /* a power of two, or 0 */
	size_t count;
};
struct table_cursor {
	uint32_t hash;
	size_t at;
};

static inline struct table_cursor table_seek(const struct table *table, uint64_t hash)
{
	uint32_t short_hash = (uint32_t)(hash >> 32);

	return (struct table_cursor){.hash = short_hash,
				     .at = table->size ? short_hash & (table->size - 1) : 0};
}

static inline bool table_next(const struct table *table, struct table_cursor *cursor,
			      uint32_t *out_index)
{
	if (!table->size)
		return false;
	for (;;) {
		const struct table_slot *slot = &table->slot[cursor->at];

		if (!slot->index_plus_1)
			return false;
		cursor->at = (cursor->at + 1) & (table->size - 1);
		if (slot->hash == cursor->hash) {
			*out_index = slot->index_plus_1 - 1;
			return true;
		}
	}
}
/* Adds an entry that the caller did not find before. 0 or -ENOMEM. */
int table_add(struct table *table, uint64_t hash, uint32_t index);
void table_close(struct table *table);

/* Good enough to be masked: every bit of the input reaches every bit of the result. */
static inline uint64_t hash_number(uint64_t number)
{
	/* Finalizer of splitmix64. */
	number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9ull;
	number = (number ^ (number >> 27)) * 0x94d049bb133111ebull;
	return number ^ (number >> 31);
}
uint64_t hash_bytes(const void *bytes, size_t size);

/*
 * Makes room for one element more in a growing array of `count` elements. 0 or -ENOMEM; the array
 * is untouched on failure.
 */
int array_reserve(void *array_pointer, size_t *capacity, size_t count, size_t element_size);

#endif
