/* SPDX-License-Identifier: MIT */
/*
 * otel_memory.S - the probes of the provider otel_memory, as a file of their own: see the file of
 * the same name for x86-64. Here the allocator's result is in x0, so that the arguments of alloc
 * are in the registers after it.
 */
	.text

	.macro probe name, arguments
	.p2align 4
	.globl otel_memory_\name
	.type otel_memory_\name, @function
otel_memory_\name:
	.cfi_startproc
	hint #34 /* bti c */
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov x29, sp
9:	nop
	ldp x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size otel_memory_\name, . - otel_memory_\name

	.pushsection .note.stapsdt, "", @note
	.balign 4
	.long 2f - 1f, 4f - 3f, 3 /* NT_STAPSDT */
1:	.asciz "stapsdt"
2:	.balign 4
3:	.quad 9b, probes_base, 0
	.asciz "otel_memory", "\name", "\arguments"
4:	.balign 4
	.popsection
	.endm

	probe alloc, "8@x1 8@x2 8@x3"
	probe free, "8@x0"

	.section .stapsdt.base, "aG", @progbits, .stapsdt.base, comdat
	.weak probes_base
	.hidden probes_base
probes_base:
	.byte 0
	.size probes_base, 1

	.section .note.GNU-stack, "", @progbits
