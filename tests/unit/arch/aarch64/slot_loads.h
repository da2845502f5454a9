/* SPDX-License-Identifier: MIT */
/* slot_loads.h - aarch64: code that loads a function's address from its slot. */
#ifndef HI_SLOT_LOADS_H
#define HI_SLOT_LOADS_H

#include <stdint.h>

#define LOAD_SLOT(function, into)                                                               \
	__asm__ volatile("adrp %0, :got:" #function "\n\tldr %0, [%0, :got_lo12:" #function "]" \
			 : "=r"(into))

/*
 * A call target that was hoisted out of a loop without end, as clang -fno-plt does it: the slot is
 * read once, and after that only the register knows. void hoisted_loop(uint64_t *rounds)
 */
__asm__(".text\n"
	".p2align 2\n"
	".type hoisted_loop, %function\n"
	"hoisted_loop:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, sp\n"
	"	mov x19, x0\n"
	"	adrp x20, :got:malloc\n"
	"	ldr x20, [x20, :got_lo12:malloc]\n"
	"	adrp x21, :got:free\n"
	"	ldr x21, [x21, :got_lo12:free]\n"
	"1:	mov w0, #200\n"
	"	blr x20\n"
	"	blr x21\n"
	"2:	ldaxr x9, [x19]\n"
	"	add x9, x9, #1\n"
	"	stlxr w10, x9, [x19]\n"
	"	cbnz w10, 2b\n"
	"	b 1b\n"
	"	.cfi_endproc\n"
	".size hoisted_loop, . - hoisted_loop\n");
void hoisted_loop(_Atomic uint64_t *rounds);

#endif
