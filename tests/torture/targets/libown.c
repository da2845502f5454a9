/* SPDX-License-Identifier: MIT */
/* libown.c - a shared object with an allocator of its own, which knows a block of another one when it is to free it. Both are called by slots. */
#include <stdint.h>
#include <stdlib.h>

void *plugin_allocate(size_t size);
void plugin_release(void *block);

#define MARK 0x0a110ca704ull
#define ROOM 65536

static _Alignas(16) char room[ROOM];
static size_t used;

void *malloc(size_t size)
{
	uint64_t *block = (uint64_t *)(void *)(room + used);

	used += (size + 31) / 16 * 16;
	if (used > ROOM)
		return NULL;
	block[0] = MARK;
	return block + 2;
}

void free(void *block)
{
	if (((uint64_t *)block)[-2] != MARK)
		abort();
}

void *plugin_allocate(size_t size)
{
	return malloc(size);
}

void plugin_release(void *block)
{
	free(block);
}
