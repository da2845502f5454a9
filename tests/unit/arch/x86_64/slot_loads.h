/* SPDX-License-Identifier: MIT */
/* slot_loads.h - x86-64: code that loads a function's address from its slot. */
#ifndef HI_SLOT_LOADS_H
#define HI_SLOT_LOADS_H

#include <stdint.h>

#define LOAD_SLOT(function, into) \
	__asm__ volatile("mov " #function "@GOTPCREL(%%rip), %0" : "=r"(into))

/*
 * A call target that was hoisted out of a loop without end, as clang -fno-plt does it: the slot is
 * read once, and after that only the register knows. void hoisted_loop(uint64_t *rounds)
 */
__asm__(".text\n"
	".type hoisted_loop, @function\n"
	"hoisted_loop:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %rbx\n"
	"	mov malloc@GOTPCREL(%rip), %r12\n"
	"	mov free@GOTPCREL(%rip), %r13\n"
	"1:	mov $200, %edi\n"
	"	call *%r12\n"
	"	mov %rax, %rdi\n"
	"	call *%r13\n"
	"	lock incq (%rbx)\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	".size hoisted_loop, . - hoisted_loop\n");
void hoisted_loop(_Atomic uint64_t *rounds);

#endif
