/* SPDX-License-Identifier: MIT */
/* rseq_section.h - x86-64: a restartable sequence. */
#ifndef HI_RSEQ_SECTION_H
#define HI_RSEQ_SECTION_H

#include <linux/rseq.h>
#include <stdint.h>

/*
 * void rseq_forever(struct rseq *rseq, uint64_t *aborts): a critical section that never ends,
 * except by its abort; that counts, and begins anew.
 */
void rseq_forever(struct rseq *rseq, _Atomic uint64_t *aborts);
__asm__(".data\n"
	".balign 32\n"
	"rseq_section:	.long 0, 0\n"
	"	.quad rseq_begin, rseq_commit - rseq_begin, rseq_abort\n"
	".text\n"
	".globl rseq_forever\n"
	".type rseq_forever, @function\n"
	"rseq_forever:\n"
	"	lea rseq_section(%rip), %rax\n"
	"	mov %rax, 8(%rdi)\n"
	"rseq_begin:\n"
	"	pause\n"
	"	jmp rseq_begin\n"
	"rseq_commit:\n"
	"	ud2\n"
	"	.long 0x53053053\n" /* RSEQ_SIG of glibc, without which the kernel kills us */
	"rseq_abort:\n"
	"	incq (%rsi)\n"
	"	jmp rseq_forever\n"
	".size rseq_forever, . - rseq_forever\n");

#endif
