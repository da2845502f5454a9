/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h - finds the one copy of a frame by its address and its module.
 *
 * Readers ask for a frame at each place of each stack, some thirty million times for a million
 * stacks. So the keys are in the slots, unlike in table.h: a look-up waits for memory once.
 *
 * Nothing is ever removed. Zero-initialized = empty.
 */
#ifndef HI_FRAME_TABLE_H
#define HI_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_slot {
	uint64_t address;
	int32_t module;
	uint32_t index_plus_1; /* 0 = empty */
};
struct frame_table {
	struct frame_slot *slot;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

/* Begins to load the memory that a look-up of this frame will want. */
void frame_table_prefetch(const struct frame_table *table, uint64_t address, int32_t module);
bool frame_table_find(const struct frame_table *table, uint64_t address, int32_t module,
		      uint32_t *out_index);
/* Adds a frame that the caller did not find before. 0 or -ENOMEM. */
int frame_table_add(struct frame_table *table, uint64_t address, int32_t module, uint32_t index);
void frame_table_close(struct frame_table *table);

#endif
