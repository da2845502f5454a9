/* SPDX-License-Identifier: MIT */
/* standing.h - x86-64: code in which a thread stands in a way that compilers do not. */
#ifndef HI_STANDING_H
#define HI_STANDING_H

#include "victim.h"

static inline void pause_cpu(void)
{
	__asm__ volatile("pause");
}

/* Calls it from code without unwind information, as a just-in-time compiler makes it. */
void call_without_information(void (*function)(struct victim_page *page), struct victim_page *page);
__asm__(".pushsection .text\n"
	"call_without_information:\n"
	"sub $8, %rsp\n"
	"mov %rdi, %rax\n"
	"mov %rsi, %rdi\n"
	"call *%rax\n"
	"add $8, %rsp\n"
	"ret\n"
	".popsection");

/* Spins while the word is not zero, with its stack and its frame where there is no memory. */
static inline void spin_without_stack(const _Atomic uint64_t *word)
{
	__asm__ volatile("mov %%rsp, %%r12\n"
			 "mov %%rbp, %%r13\n"
			 "mov $4096, %%rsp\n"
			 "mov %%rsp, %%rbp\n"
			 "1: pause\n"
			 "cmpq $0, (%0)\n"
			 "jne 1b\n"
			 "mov %%r12, %%rsp\n"
			 "mov %%r13, %%rbp\n"
			 :
			 : "D"(word)
			 : "r12", "r13", "memory", "cc");
}

/* Spins with one value in a register, and counts, until the register has the other value. */
static inline void spin_until_register_changes(uint64_t from, uint64_t to,
					       _Atomic uint64_t *counter)
{
	__asm__ volatile("mov %0, %%r12\n"
			 "1: pause\n"
			 "lock incq (%2)\n"
			 "cmp %1, %%r12\n"
			 "jne 1b\n"
			 :
			 : "r"(from), "r"(to), "r"(counter)
			 : "r12", "memory", "cc");
}

#endif
