/* SPDX-License-Identifier: MIT */
/* canary.h - x86-64: registers that hold known values, and code that changes those it may. */
#ifndef HI_CANARY_H
#define HI_CANARY_H

#include <stdbool.h>
#include <stdint.h>

/* arch_sigreturn.load */
#define CANARY_LOAD ".byte 0x58, 0xc3"
#define CANARY_HAS_LOAD 1

/*
 * uint64_t canary_round(uint64_t rounds): fills all vector registers, the x87 stack, the red zone
 * and the direction flag, and counts the rounds after which one of them is not as it was.
 */
uint64_t canary_round(uint64_t rounds);
__asm__(".text\n"
	".globl canary_round\n"
	".type canary_round, @function\n"
	"canary_round:\n"
	"	movabs $0x1122334455667788, %rax\n"
	"	xor %r8d, %r8d\n"
	"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movq %rax, %xmm\\n\n"
	"	mov %rax, -8*(\\n+1)(%rsp)\n"
	"	.endr\n"
	"	fldpi\n"
	"	std\n"
	"1:	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movq %xmm\\n, %rcx\n"
	"	cmp %rax, %rcx\n"
	"	jne 2f\n"
	"	cmp %rax, -8*(\\n+1)(%rsp)\n"
	"	jne 2f\n"
	"	.endr\n"
	"	fldpi\n"
	"	fucomip %st(1), %st\n"
	"	jne 2f\n"
	"	lea -8(%rsp), %rsi\n"
	"	mov %rsi, %rdx\n"
	"	mov %rax, %rcx\n"
	"	lodsq\n"
	"	mov %rcx, %rax\n"
	"	cmp %rdx, %rsi\n" /* with the flag set, rsi went down */
	"	jb 3f\n"
	"2:	inc %r8\n"
	"3:	dec %rdi\n"
	"	jnz 1b\n"
	"	cld\n"
	"	fstp %st(0)\n"
	"	mov %r8, %rax\n"
	"	ret\n"
	".size canary_round, . - canary_round\n");

/* Flags that no function expects to be set. */
static inline bool canary_has_odd_flags(void)
{
	return __builtin_ia32_readeflags_u64() & 0x400;
}

static inline void canary_clobber(void)
{
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm15, %%xmm15; fninit" ::
				 : "xmm0", "xmm15", "memory");
}

#endif
