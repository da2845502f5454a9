/* SPDX-License-Identifier: MIT */
/* A library that brings an allocator of its own, and insists that what it frees is its own. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void *own_allocate(size_t size);

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
	static const char wrong[] = "a block of another allocator\n";

	if (((uint64_t *)block)[-2] == MARK)
		return;
	if (write(STDOUT_FILENO, wrong, sizeof(wrong) - 1) > 0)
		abort();
}

void *own_allocate(size_t size)
{
	return malloc(size);
}
