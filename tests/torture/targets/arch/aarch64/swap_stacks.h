/* SPDX-License-Identifier: MIT */
/*
 * swap_stacks.h - aarch64: a context switch of our own, as bthread and Boost.Context have it: the
 * registers that are kept on the stack, the stack pointer exchanged, a first return address that
 * nobody ever called from. None of it has unwind information. For one source file of a program.
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
__asm__(".text\n.p2align 2\n"
	"swap_stacks:\n"
	"	stp x29, x30, [sp, #-160]!\n"
	"	stp x19, x20, [sp, #16]\n	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x2, sp\n"
	"	str x2, [x0]\n"
	"	mov sp, x1\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp x27, x28, [sp, #80]\n"
	"	ldp x25, x26, [sp, #64]\n	ldp x23, x24, [sp, #48]\n"
	"	ldp x21, x22, [sp, #32]\n	ldp x19, x20, [sp, #16]\n"
	"	ldp x29, x30, [sp], #160\n"
	"	ret\n"
	".globl first_step\n.hidden first_step\n"
	"first_step:\n" /* as in make_fcontext: the function returns to where nobody called from */
	"	adr x30, finish\n"
	"	br x19\n"
	"finish:\n"
	"	brk #0\n");

/*
 * What to load to run `function`, which does not return, on a stack that ends at `top`. The frame
 * pointer is `bp` at first.
 */
static inline void *swap_stacks_prepare(void *top, void (*function)(void), uint64_t bp)
{
	uint64_t *word = (uint64_t *)top - 2;

	word[0] = word[1] = 0;
	word -= 20;
	for (unsigned i = 3; i < 20; i++)
		word[i] = 0x1111 * (uint64_t)i;
	word[0] = bp;
	word[1] = (uint64_t)first_step;
	word[2] = (uint64_t)function; /* x19 */
	return word;
}

#endif
