/* SPDX-License-Identifier: MIT */
/*
 * A program with an allocator of its own, and in the same page of code an address that the dynamic
 * linker has filled in (RELOCATED), or a word that the program writes to (WRITABLE). "ready", then
 * "keep N": N blocks; the answer says how many there have been.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "../target.h"

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
	if ((size_t)block % 16)
		abort();
}

APART void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

APART void *realloc(void *block, size_t size)
{
	return block ? NULL : malloc(size);
}

#ifdef WRITABLE
extern unsigned long kept;
__asm__(".pushsection .text; .balign 8; kept: .quad 0; .popsection");

static void prepare(void)
{
	void *page = (void *)((size_t)&kept / 4096 * 4096);

	if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
}

static unsigned long *counter(void)
{
	return &kept;
}
#else
unsigned long kept;

static void prepare(void)
{
}

APART static unsigned long *counter(void)
{
	unsigned long *address;

	__asm__("movabs $kept, %0" : "=r"(address));
	return address;
}
#endif

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	int count;

	prepare();
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		for (int i = 0; i < count; i++) {
			last = malloc(100);
			++*counter();
		}
		target_say("%lu kept\n", *counter());
	}
}
