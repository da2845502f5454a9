/* SPDX-License-Identifier: MIT */
/*
 * A program with an allocator of its own, called my_malloc and so on. "ready", then "keep N": N
 * blocks of 1000 bytes by each function, and N that are freed.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../target.h"

#define BLOCK_BYTES 1000u
#define ALIGNMENT 64u
#define HEAP_BYTES (64u << 20)

static char heap[HEAP_BYTES];
static size_t used;
static void *volatile last;

/*
 * Not inline, nor is one of them called by another: each is a function of its own. Each may end up
 * in libc, as those of any allocator that asks for memory: then callers count on no registers.
 */
#define EXPORTED __attribute__((noinline, noipa))

static void *take(size_t size, size_t alignment)
{
	void *block;

	used = (used + alignment - 1) / alignment * alignment;
	block = heap + used;
	used += size;
	if (used > HEAP_BYTES)
		abort();
	return block;
}

EXPORTED void *my_malloc(size_t size)
{
	return take(size, 16);
}

EXPORTED void *my_calloc(size_t count, size_t size)
{
	return take(count * size, 16);
}

EXPORTED void *my_realloc(void *block, size_t size)
{
	return block ? NULL : take(size, 16);
}

EXPORTED void *my_aligned_alloc(size_t alignment, size_t size)
{
	return take(size, alignment);
}

EXPORTED int my_posix_memalign(void **out_block, size_t alignment, size_t size)
{
	*out_block = take(size, alignment);
	return !*out_block;
}

EXPORTED void *my_memalign(size_t alignment, size_t size)
{
	return take(size, alignment);
}

EXPORTED void my_free(void *block)
{
	if ((uintptr_t)block % 16)
		abort();
	last = block;
}

/* Of zlib's shape: its first argument is not the size. */
EXPORTED void *my_zalloc(void *opaque, unsigned count, unsigned size)
{
	return opaque ? NULL : take((size_t)count * size, 16);
}

#ifdef COPIES
/* As a compiler makes them: local, with the names that it gives. */
#define MADE __attribute__((noipa, used)) static
static void *calloc_copy(size_t size) __asm__("my_calloc.constprop.0");
static void free_copy(void *block) __asm__("my_free.part.0");
static void cold_copy(void) __asm__("my_realloc.part.0.cold");
MADE void *calloc_copy(size_t size)
{
	return take(size, 16);
}
MADE void free_copy(void *block)
{
	last = block;
}
MADE void cold_copy(void)
{
	abort();
}
#endif

__attribute__((noinline)) static void keep(unsigned count)
{
	void *block;

	for (unsigned i = 0; i < count; i++) {
		last = my_malloc(BLOCK_BYTES);
		last = my_calloc(BLOCK_BYTES / 10, 10);
		last = my_realloc(NULL, BLOCK_BYTES);
		last = my_aligned_alloc(ALIGNMENT, BLOCK_BYTES);
		last = my_memalign(ALIGNMENT, BLOCK_BYTES);
		if (my_posix_memalign(&block, ALIGNMENT, BLOCK_BYTES) == 0)
			last = block;
		my_free(my_malloc(BLOCK_BYTES));
		last = my_zalloc(NULL, 1, 1);
#ifdef COPIES
		free_copy(calloc_copy(BLOCK_BYTES));
#endif
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	unsigned count;

	last = malloc(BLOCK_BYTES); /* an import, so that there is something to hook without it */
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %u", &count) == 1)
			keep(count);
		target_say("done\n");
	}
	return 0;
}
