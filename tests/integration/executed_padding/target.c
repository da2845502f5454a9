/* SPDX-License-Identifier: MIT */
/*
 * An allocator in assembly whose calloc runs through the padding before malloc into it. A thread
 * does that all the time. "ready", then "keep N": N blocks of each.
 */
#include <pthread.h>

#include "../target.h"

#define STACK_BYTES (64u << 10)

static void *volatile last;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *block);
__asm__(".pushsection .text\n"
	".globl malloc, calloc, free\n"
	".type malloc, @function\n"
	".type calloc, @function\n"
	".type free, @function\n"
	"free: .cfi_startproc\n"
	"test $15, %edi\n"
	"jne 1f\n"
	"ret\n"
	"1: call *abort@GOTPCREL(%rip)\n" /* what calls nothing else is not hooked */
	".cfi_endproc\n"
	".size free, . - free\n"
	".nops 16, 1\n"
	"calloc: .cfi_startproc\n"
	"imul %rsi, %rdi\n"
	"cmp $0x1000000, %rdi\n"
	"ja 1b\n"
	".cfi_endproc\n"
	".size calloc, . - calloc\n"
	".nops 16, 1\n"
	"malloc: .cfi_startproc\n"
	"endbr64\n"
	"lea heap(%rip), %rax\n"
	"cmp $0x1000000, %rdi\n"
	"ja 1b\n"
	"ret\n"
	".cfi_endproc\n"
	".size malloc, . - malloc\n"
	".popsection");

/* All blocks are the same: nothing uses them. */
__attribute__((used)) static char heap[1u << 24] __attribute__((aligned(64)));

void *realloc(void *block, size_t size)
{
	return block ? NULL : malloc(size);
}

static void *run_through(void *unused)
{
	for (;;)
		last = calloc(1, 16);
	return unused;
}

int main(void)
{
	static char stack[STACK_BYTES] __attribute__((aligned(64)));
	char command[TARGET_COMMAND_MAX];
	pthread_attr_t attributes;
	pthread_t thread;
	int count;

	/* what pthread_create takes from calloc is written to */
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, sizeof(stack));
	if (pthread_create(&thread, &attributes, run_through, NULL))
		return 1;
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		for (int i = 0; i < count; i++) {
			last = malloc(100);
			last = calloc(1, 100);
			free(last);
		}
		target_say("done\n");
	}
}
