/* SPDX-License-Identifier: MIT */
/*
 * kept_registers.h - x86-64: registers that calls preserve, in a function that the user has named.
 * To be included by one test alone: it defines variables.
 */
#ifndef HI_KEPT_REGISTERS_H
#define HI_KEPT_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define KEPT 5u /* rbx, r12 to r15 */

/* What the injector looks for in the target's own code, by the register through which it calls. */
void gadget_rbx(void), gadget_r12(void), gadget_r13(void), gadget_r14(void), gadget_r15(void);
static void (*const gadgets[KEPT])(void) = {gadget_rbx, gadget_r12, gadget_r13, gadget_r14,
					    gadget_r15};
__asm__(".text\n"
	"gadget_rbx: call *%rbx\n"
	"gadget_r12: call *%r12\n"
	"gadget_r13: call *%r13\n"
	"gadget_r14: call *%r14\n"
	"gadget_r15: call *%r15\n");

/* Where a function leaves a result of that type. */
#define LONG_DOUBLES_IN_VECTORS 0

/* A function with global variables in registers: notes what is in them, and adds 1 to each. */
uint64_t seen_kept[KEPT];
uint64_t kept_alloc(void *pool, size_t size);
__asm__(".text\n"
	"kept_alloc: mov %rbx, seen_kept(%rip)\n"
	" mov %r12, seen_kept+8(%rip)\n"
	" mov %r13, seen_kept+16(%rip)\n"
	" mov %r14, seen_kept+24(%rip)\n"
	" mov %r15, seen_kept+32(%rip)\n"
	" mov return_register(%rip), %ecx\n"
	" cmp $0, %ecx\n je 1f\n inc %rbx\n"
	"1: cmp $1, %ecx\n je 1f\n inc %r12\n"
	"1: cmp $2, %ecx\n je 1f\n inc %r13\n"
	"1: cmp $3, %ecx\n je 1f\n inc %r14\n"
	"1: cmp $4, %ecx\n je 1f\n inc %r15\n"
	"1: mov $0x20000, %eax\n ret\n");
unsigned return_register; /* which it leaves alone */

/* function(0x1000, 10), with these in the registers, and what is in them then. */
static inline void call_with_kept(void *function, uint64_t kept[KEPT])
{
	uint64_t pool = 0x1000, size = 10;

	__asm__ volatile("push %%rbx\n push %%rbp\n mov %%rsp, %%rbp\n and $-16, %%rsp\n"
			 " push %[kept]\n push %[kept]\n"
			 " mov (%[kept]), %%rbx\n mov 8(%[kept]), %%r12\n"
			 " mov 16(%[kept]), %%r13\n mov 24(%[kept]), %%r14\n"
			 " mov 32(%[kept]), %%r15\n"
			 " call *%[function]\n"
			 " pop %%rcx\n pop %%rcx\n"
			 " mov %%rbx, (%%rcx)\n mov %%r12, 8(%%rcx)\n mov %%r13, 16(%%rcx)\n"
			 " mov %%r14, 24(%%rcx)\n mov %%r15, 32(%%rcx)\n"
			 " mov %%rbp, %%rsp\n pop %%rbp\n pop %%rbx\n"
			 : "+D"(pool), "+S"(size)
			 : [kept] "d"(kept), [function] "a"(function)
			 : "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
			   "cc");
}

#endif
