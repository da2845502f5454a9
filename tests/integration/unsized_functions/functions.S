/* SPDX-License-Identifier: MIT */
/*
 * functions.S - functions of an allocator as an assembler file has them: no size, and no unwind
 * information. Right behind them is one that allocates.
 */
	.text
	.globl malloc, free, calloc, allocate_beside
	.type malloc, @function
	.type free, @function
	.type calloc, @function
	.type allocate_beside, @function
malloc:
	jmp own_malloc
	.p2align 4
free:
	jmp own_free
	.p2align 4
calloc:
	push %rbx
	call own_calloc
	pop %rbx
	ret
	.p2align 4
allocate_beside:
	push %rbx
	mov $100, %edi
	call malloc
	pop %rbx
	ret

	.section .note.GNU-stack, "", %progbits
