/* SPDX-License-Identifier: MIT */
/*
 * due_frees.h - frees that were told with their allocations (HI_STREAM_EVENTS), until their time
 * comes. Zero-initialized = none.
 */
#ifndef HI_DUE_FREES_H
#define HI_DUE_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct due_free {
	uint64_t time_ns;
	uint64_t serial; /* of the block; of two frees at one time the lower one comes first */
	uint64_t address;
	uint32_t thread;
};

struct due_frees {
	struct due_free *heap; /* a binary heap */
	size_t count, room;
};

/* 0 or -ENOMEM. */
int due_frees_add(struct due_frees *due, const struct due_free *free);
/* Takes the first of those that are due at this time. False: none is. */
bool due_frees_take(struct due_frees *due, uint64_t time_ns, struct due_free *out_free);
void due_frees_close(struct due_frees *due);

#endif
