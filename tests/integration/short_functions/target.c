/* SPDX-License-Identifier: MIT */
/*
 * A program with an allocator of its own that never frees: its free is one instruction, and the
 * next function follows at once, or after padding. "ready", then "keep N": N blocks of 1000 bytes,
 * and N that are freed.
 */
#include <stdlib.h>

#include "../target.h"

#define BLOCK_BYTES 1000u
#define HEAP_BYTES (64u << 20)
#define APART __attribute__((noipa))

static char heap[HEAP_BYTES] __attribute__((aligned(64)));
static size_t used;
static void *volatile last;

APART void *malloc(size_t size)
{
	void *block = heap + used;

	used += (size + 15) / 16 * 16;
	if (used > HEAP_BYTES)
		abort(); /* what calls nothing else is not hooked (closed_allocator) */
	return block;
}

APART void free(void *block)
{
	(void)block;
}

APART void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

APART void *realloc(void *block, size_t size)
{
	return block ? NULL : malloc(size);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	int count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		for (int i = 0; i < count; i++) {
			last = malloc(BLOCK_BYTES);
			last = malloc(BLOCK_BYTES);
			free(last);
			last = calloc(1, BLOCK_BYTES);
		}
		target_say("done\n");
	}
}
