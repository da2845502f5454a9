/* SPDX-License-Identifier: MIT */
/*
 * A program whose allocator takes memory from sbrk alone. Its malloc begins with a short
 * instruction, without padding before it, and what follows makes a jump there lead above the heap.
 * "ready", then "keep N": N blocks of 1 MB, whose pages are never touched; the answer says how many
 * there was no memory for.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../target.h"

#define BLOCK_BYTES (1u << 20)
#define APART __attribute__((noipa))

static void *volatile last;

APART __attribute__((used)) static void *take(size_t size)
{
	void *block = sbrk((intptr_t)((size + 15) / 16 * 16));

	return block == (void *)-1 ? NULL : block;
}

void *malloc(size_t size);
__asm__(".pushsection .text\n"
	".globl malloc\n"
	".type malloc, @function\n"
	"nop\n" /* as it is no instruction of alignment, .eh_frame has it */
	".cfi_startproc\n"
	"ret\n"
	".cfi_endproc\n"
	"malloc: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	"mov %rdi, %rbx\n"
	"xor $0, %bl\n"
	"call take\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size malloc, . - malloc\n"
	".popsection");

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

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	int count, failed = 0;

	last = malloc(16); /* the heap is there */
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		for (int i = 0; i < count; i++) {
			last = malloc(BLOCK_BYTES);
			failed += !last;
		}
		target_say("%d failed\n", failed);
	}
}
