/* SPDX-License-Identifier: MIT */
/*
 * swap_stacks.h - x86-64: a context switch of our own, as bthread and Boost.Context have it: a few
 * registers on the stack, the stack pointer exchanged, a first return address that nobody ever
 * called from. None of it has unwind information. For one source file of a program.
 */
#ifndef SWAP_STACKS_H
#define SWAP_STACKS_H

#include <stdint.h>

/*
 * Leaves the current stack, noting in *save where it is to be entered again, for one that was left,
 * or prepared.
 */
void swap_stacks(void **save, void *load);
void first_step(void);
__asm__(".text\n"
	"swap_stacks:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	"first_step:\n" /* as in make_fcontext: the function returns to where nobody called from */
	"	lea finish(%rip), %rax\n"
	"	push %rax\n"
	"	jmp *%rbx\n"
	"finish:\n"
	"	hlt\n");

/*
 * What to load to run `function`, which does not return, on a stack that ends at `top`. The frame
 * pointer is `bp` at first.
 */
static inline void *swap_stacks_prepare(void *top, void (*function)(void), uint64_t bp)
{
	uint64_t *word = top;

	*--word = 0;
	*--word = 0; /* and now the stack is aligned as behind a call */
	*--word = (uint64_t)first_step;
	*--word = bp;
	*--word = (uint64_t)function; /* rbx */
	for (int i = 0; i < 4; i++)
		*--word = 0x1111 * (uint64_t)i;
	return word;
}

#endif
