/* SPDX-License-Identifier: MIT */
/* rseq_add.h - x86-64: one more, in a restartable sequence. */
#ifndef RSEQ_ADD_H
#define RSEQ_ADD_H

#include <linux/rseq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One more in *count, which is that of `cpu`; false if the thread was disturbed on the way, or is
 * not on that CPU.
 */
static bool add_one(struct rseq *rseq, uint32_t cpu, uint64_t *count)
{
	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n.balign 32\n"
		     "3: .long 0, 0\n.quad 1f, 2f - 1f, 4f\n.popsection\n"
		     "leaq 3b(%%rip), %%rax\nmovq %%rax, %c[cs](%[rseq])\n"
		     "1: cmpl %[cpu], %c[cpu_id](%[rseq])\njne %l[disturbed]\n"
		     "movq (%[count]), %%rax\nincq %%rax\n"
		     "movl $500, %%ecx\n5: decl %%ecx\njnz 5b\n"
		     "movq %%rax, (%[count])\n"
		     "2:\n.pushsection .text.unlikely, \"ax\"\n"
		     /* the signature that the kernel wants to see before it */
		     ".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
		     "4: jmp %l[disturbed]\n.popsection\n"
		     :
		     : [rseq] "r"(rseq), [cpu] "r"(cpu), [count] "r"(count),
		       [cs] "i"(offsetof(struct rseq, rseq_cs)),
		       [cpu_id] "i"(offsetof(struct rseq, cpu_id))
		     : "rax", "rcx", "memory", "cc"
		     : disturbed);
	return true;
disturbed:
	return false;
}

#endif
