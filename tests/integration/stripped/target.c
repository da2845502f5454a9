/* SPDX-License-Identifier: MIT */
/*
 * A program with its allocator linked in, under a prefix or none. "ready", then "keep N": each of
 * five functions keeps N blocks of 1000 bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../target.h"

#ifndef PREFIX
#define PREFIX
#endif
#define JOIN(one, other) one##other
#define NAME(prefix, name) JOIN(prefix, name)
#define ALLOCATOR(name) NAME(PREFIX, name)
#define BLOCK_BYTES 1000u
#ifndef ALIGNMENT
#define ALIGNMENT 64u
#endif

void *ALLOCATOR(malloc)(size_t size);
void *ALLOCATOR(calloc)(size_t count, size_t size);
void *ALLOCATOR(realloc)(void *block, size_t size);
void *ALLOCATOR(aligned_alloc)(size_t alignment, size_t size);
int ALLOCATOR(posix_memalign)(void **block, size_t alignment, size_t size);
void ALLOCATOR(free)(void *block);

static void *volatile last;

__attribute__((noinline)) static void keep(unsigned count)
{
	void *block;

	for (unsigned i = 0; i < count; i++) {
		last = ALLOCATOR(malloc)(BLOCK_BYTES);
		last = ALLOCATOR(calloc)(BLOCK_BYTES / 10, 10);
		last = ALLOCATOR(realloc)(NULL, BLOCK_BYTES);
		last = ALLOCATOR(aligned_alloc)(ALIGNMENT, BLOCK_BYTES);
		if (ALLOCATOR(posix_memalign)(&block, ALIGNMENT, BLOCK_BYTES) == 0)
			last = block;
		ALLOCATOR(free)(ALLOCATOR(malloc)(BLOCK_BYTES));
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	unsigned count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %u", &count) == 1)
			keep(count);
		target_say("done\n");
	}
	return 0;
}
