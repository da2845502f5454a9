/* SPDX-License-Identifier: MIT */
/* rseq_section.h - aarch64: a restartable sequence. */
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
	".p2align 2\n"
	".globl rseq_forever\n"
	".type rseq_forever, %function\n"
	"rseq_forever:\n"
	"	adrp x2, rseq_section\n"
	"	add x2, x2, :lo12:rseq_section\n"
	"	str x2, [x0, #8]\n"
	"rseq_begin:\n"
	"	yield\n"
	"	b rseq_begin\n"
	"rseq_commit:\n"
	"	udf #0\n"
	"	.inst 0xd428bc00\n" /* RSEQ_SIG of glibc, without which the kernel kills us */
	"rseq_abort:\n"
	"	ldr x2, [x1]\n"
	"	add x2, x2, #1\n"
	"	str x2, [x1]\n"
	"	b rseq_forever\n"
	".size rseq_forever, . - rseq_forever\n");

#endif
