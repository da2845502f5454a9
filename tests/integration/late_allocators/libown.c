/* SPDX-License-Identifier: MIT */
/*
 * A library with an allocator of its own, which takes memory from mmap. It calls it through its
 * slots (RTLD_DEEPBIND), as "malloc".
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *allocate(size_t size);

#define CHUNK (1u << 20)

void *malloc(size_t size)
{
	static char *at, *end;

	size = (size + 31) / 16 * 16;
	if ((size_t)(end - at) < size) {
		at = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = at + CHUNK;
	}
	at += size;
	return at - size;
}

void free(void *block)
{
	(void)block;
}

__attribute__((noinline)) void *allocate(size_t size)
{
	char *volatile block = malloc(size);

	memset(block, 1, size);
	return block;
}
