/* SPDX-License-Identifier: MIT */
/* canary.h - aarch64: registers that hold known values, and code that changes those it may. */
#ifndef HI_CANARY_H
#define HI_CANARY_H

#include <stdbool.h>
#include <stdint.h>

/* arch_sigreturn.load */
#define CANARY_LOAD "nop" /* there is none */
#define CANARY_HAS_LOAD 0

/*
 * uint64_t canary_round(uint64_t rounds): fills all vector registers, and general ones that a
 * function may use, and counts the rounds after which one of them is not as it was.
 */
uint64_t canary_round(uint64_t rounds);
__asm__(".text\n"
	".globl canary_round\n"
	".type canary_round, %function\n"
	".p2align 2\n"
	"canary_round:\n"
	"	stp d8, d9, [sp, #-64]!\n"
	"	stp d10, d11, [sp, #16]\n"
	"	stp d12, d13, [sp, #32]\n"
	"	stp d14, d15, [sp, #48]\n"
	"	mov x8, #0\n"
	"	mov x9, #0x7788\n"
	"	movk x9, #0x1122, lsl #48\n"
	"	.irp n, 1,2,3,4,5,6,7,10,11,12,13,14,15,16,17\n"
	"	mov x\\n, x9\n"
	"	.endr\n"
	"	.irp n, "
	"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
	"29,30,31\n"
	"	dup v\\n\\().2d, x9\n"
	"	.endr\n"
	"1:	.irp n, 1,2,3,4,5,6,7,10,11,12,13,14,15,16\n"
	"	cmp x\\n, x9\n"
	"	b.ne 2f\n"
	"	.endr\n"
	"	.irp n, "
	"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
	"29,30,31\n"
	"	mov x17, v\\n\\().d[0]\n"
	"	cmp x17, x9\n"
	"	b.ne 2f\n"
	"	mov x17, v\\n\\().d[1]\n"
	"	cmp x17, x9\n"
	"	b.ne 2f\n"
	"	.endr\n"
	"	b 3f\n"
	"2:	add x8, x8, #1\n"
	"3:	subs x0, x0, #1\n"
	"	b.ne 1b\n"
	"	mov x0, x8\n"
	"	ldp d10, d11, [sp, #16]\n"
	"	ldp d12, d13, [sp, #32]\n"
	"	ldp d14, d15, [sp, #48]\n"
	"	ldp d8, d9, [sp], #64\n"
	"	ret\n"
	".size canary_round, . - canary_round\n");

/* None that a program can set. */
static inline bool canary_has_odd_flags(void)
{
	return false;
}

static inline void canary_clobber(void)
{
	__asm__ volatile("movi v0.2d, #0\n\tmovi v31.2d, #0" : : : "v0", "v31", "memory");
}

#endif
