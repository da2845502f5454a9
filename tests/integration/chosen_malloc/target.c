/* SPDX-License-Identifier: MIT */
/* A program with an allocator whose functions are chosen when it starts. "ready", then "keep N". */
#include <stdlib.h>

#include "../target.h"

#define HEAP_BYTES (64u << 20)

static char heap[HEAP_BYTES];
static size_t used;
static void *volatile last;

static void *take(size_t size)
{
	void *block = heap + used;

	used += (size + 15) / 16 * 16;
	return used <= HEAP_BYTES ? block : NULL;
}

static void *(*choose(void))(size_t)
{
	return take;
}

void *je_malloc(size_t) __attribute__((ifunc("choose")));

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	int count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		for (int i = 0; i < count; i++)
			last = je_malloc(1000);
		target_say("done\n");
	}
}
