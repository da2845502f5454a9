/* SPDX-License-Identifier: MIT */
/*
 * libown.c - a shared object with an allocator of its own, which knows a block of another one when
 * it is to free it.
 */
#include <stdlib.h>

void *plugin_allocate(size_t size);

#define BLOCKS 64
#define BLOCK_BYTES 1024

static _Alignas(16) char room[BLOCKS][BLOCK_BYTES];
static char is_used[BLOCKS];

void *malloc(size_t size)
{
	for (size_t i = 0; size <= BLOCK_BYTES && i < BLOCKS; i++) {
		if (is_used[i])
			continue;
		is_used[i] = 1;
		return room[i];
	}
	return NULL;
}

void free(void *block)
{
	const size_t distance = (size_t)((char *)block - room[0]);

	if (distance >= sizeof(room) || distance % BLOCK_BYTES || !is_used[distance / BLOCK_BYTES])
		abort();
	is_used[distance / BLOCK_BYTES] = 0;
}

void *plugin_allocate(size_t size)
{
	return malloc(size);
}
