/* SPDX-License-Identifier: MIT */
/*
 * otel_memory.S - the probes of the provider otel_memory, as a file of their own: what the profiler
 * of OpenTelemetry looks for in each mapped file (its design document 00003, "USDT contract"), and
 * what any tool for user-space probes finds. Memory without the name of a file it does not look at;
 * so the first page of this object is mapped from a file, beside the gate.
 *
 *     alloc(address, size, weight)  a sample was allocated; weight: the bytes that it stands for
 *     free(address)                 a sample is about to be freed
 *
 * Each function is a place to arm, and a return. It is entered by a jump, with the stack as the
 * allocator's caller left it. So an unwinder that starts at the probe finds that caller next. The
 * frame is for those that follow frame pointers: they would leave the caller out. rax holds the
 * allocator's result and must be kept; no other register is changed either.
 *
 * The notes are of the form that the tools for user-space probes share: location, base (whose
 * address shows a tool by how much the file was prelinked), semaphore (none: a probe that is not
 * armed costs a jump and a return), names, and where the arguments are.
 */
	.text

	.macro probe name, arguments
	.p2align 4
	.globl otel_memory_\name
	.type otel_memory_\name, @function
otel_memory_\name:
	.cfi_startproc
	endbr64
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
9:	nop
	pop %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
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

	probe alloc, "8@%rdi 8@%rsi 8@%rdx"
	probe free, "8@%rdi"

	.section .stapsdt.base, "aG", @progbits, .stapsdt.base, comdat
	.weak probes_base
	.hidden probes_base
probes_base:
	.byte 0
	.size probes_base, 1

	.section .note.GNU-stack, "", @progbits
