/* SPDX-License-Identifier: MIT */
/* A library into which an allocator is linked, under names with a prefix. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK (1u << 20)

void *allocate(size_t size);
__attribute__((visibility("hidden"), noinline)) void *je_malloc(size_t size);
__attribute__((visibility("hidden"), noinline)) void je_free(void *block);

void *je_malloc(size_t size)
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

void je_free(void *block)
{
	(void)block;
}

__attribute__((noinline)) void *allocate(size_t size)
{
	char *volatile block = je_malloc(size);

	memset(block, 1, size);
	if (!size)
		je_free(block);
	return block;
}
