/* SPDX-License-Identifier: MIT */
/*
 * heap_axis/target.c - memory that is kept, and memory that is freed and that the allocator
 * retains; and what the allocator itself says of it.
 *
 * Commands: "leak N BYTES" allocates so many blocks, "peak N BYTES" frees as many again, but keeps
 * the last one, which lies above all of them. "truth": what mallinfo2 says is in use and free, in
 * bytes; 0 if the program has another allocator.
 */
#include <malloc.h>

#include "../target.h"

#define BLOCKS_MAX 200000

static void *block[BLOCKS_MAX];
static void *volatile kept, *volatile last;

__attribute__((noinline)) static void *touched(size_t size)
{
	void *at = malloc(size);

	if (!at)
		abort();
	return memset(at, 1, size);
}

__attribute__((noinline)) static void leak(size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		last = touched(size);
}

__attribute__((noinline)) static void peak(size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		block[i] = touched(size);
	kept = touched(size);
	for (size_t i = 0; i < count; i++)
		free(block[i]);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	size_t count, size;

	leak(10, 100);
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "leak %zu %zu", &count, &size) == 2) {
			leak(count, size);
			target_say("done\n");
		} else if (sscanf(command, "peak %zu %zu", &count, &size) == 2 &&
			   count <= BLOCKS_MAX) {
			peak(count, size);
			target_say("done\n");
		} else {
			const struct mallinfo2 info = mallinfo2();

			target_say("%zu %zu\n", info.uordblks + info.hblkhd, info.fordblks);
		}
	}
	return 0;
}
