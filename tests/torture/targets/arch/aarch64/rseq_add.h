/* SPDX-License-Identifier: MIT */
/* rseq_add.h - aarch64: one more, in a restartable sequence. */
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
		     "adrp x9, 3b\nadd x9, x9, :lo12:3b\nstr x9, [%[rseq], %[cs]]\n"
		     "1: ldr w9, [%[rseq], %[cpu_id]]\ncmp w9, %w[cpu]\nb.ne %l[disturbed]\n"
		     "ldr x9, [%[count]]\nadd x9, x9, #1\n"
		     "mov w10, #500\n5: subs w10, w10, #1\nb.ne 5b\n"
		     "str x9, [%[count]]\n"
		     "2:\n.pushsection .text.unlikely, \"ax\"\n"
		     /* the signature that the kernel wants to see before it */
		     ".inst 0xd428bc00\n"
		     "4: b %l[disturbed]\n.popsection\n"
		     :
		     : [rseq] "r"(rseq), [cpu] "r"(cpu), [count] "r"(count),
		       [cs] "i"(offsetof(struct rseq, rseq_cs)),
		       [cpu_id] "i"(offsetof(struct rseq, cpu_id))
		     : "x9", "x10", "memory", "cc"
		     : disturbed);
	return true;
disturbed:
	return false;
}

#endif
