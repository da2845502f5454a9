/* SPDX-License-Identifier: MIT */
/* standing.h - aarch64: code in which a thread stands in a way that compilers do not. */
#ifndef HI_STANDING_H
#define HI_STANDING_H

#include "victim.h"

static inline void pause_cpu(void)
{
	__asm__ volatile("yield");
}

/*
 * Calls it from code without unwind information, as a just-in-time compiler makes it. Its x29 leads
 * to no frame.
 */
void call_without_information(void (*function)(struct victim_page *page), struct victim_page *page);
__asm__(".pushsection .text\n"
	"call_without_information:\n"
	"sub sp, sp, #32\n"
	"stp x29, x30, [sp, #8]\n"
	"mov x29, #1\n"
	"mov x9, x0\n"
	"mov x0, x1\n"
	"blr x9\n"
	"ldp x29, x30, [sp, #8]\n"
	"add sp, sp, #32\n"
	"ret\n"
	".popsection");

/* Spins while the word is not zero, with its stack and its frame where there is no memory. */
static inline void spin_without_stack(const _Atomic uint64_t *word)
{
	__asm__ volatile("mov x19, sp\n"
			 "mov x20, x29\n"
			 "mov x9, #4096\n"
			 "mov sp, x9\n"
			 "mov x29, x9\n"
			 "1: yield\n"
			 "ldr x9, [%0]\n"
			 "cbnz x9, 1b\n"
			 "mov sp, x19\n"
			 "mov x29, x20\n"
			 :
			 : "r"(word)
			 : "x9", "x19", "x20", "memory");
}

/* Spins with one value in a register, and counts, until the register has the other value. */
static inline void spin_until_register_changes(uint64_t from, uint64_t to,
					       _Atomic uint64_t *counter)
{
	__asm__ volatile("mov x19, %0\n"
			 "1: yield\n"
			 "2: ldxr x9, [%2]\n"
			 "add x9, x9, #1\n"
			 "stxr w10, x9, [%2]\n"
			 "cbnz w10, 2b\n"
			 "cmp x19, %1\n"
			 "b.ne 1b\n"
			 :
			 : "r"(from), "r"(to), "r"(counter)
			 : "x9", "x10", "x19", "memory", "cc");
}

#endif
