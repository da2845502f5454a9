/* SPDX-License-Identifier: MIT */
/*
 * gate.S - the gate's entries, which are the fast path; the stubs through which a thread enters and
 * leaves the slow path; and the call of an original from there.
 *
 * GATE ENTRIES are templates. The injector copies one to each entry in use, and puts the words of
 * that entry HI_GATE_BYTES after it. So every access is rip-relative to the local label 9 at the
 * start of the entry (never a global symbol: that would leave a relocation). An entry may use rax,
 * r10 and r11. It does not touch the stack, so unwinders, signals and detach need not know about
 * it.
 *
 * The C equivalent of an allocating entry:
 *
 *     slot = &slots[(thread * HASH >> SHIFT) % number of slots];
 *     for (way = 1; way < 4 && slot->fast_owner != thread; way++)
 *         slot = &slots[home ^ way];   // some threads share a home; all shall be fast
 *     if (slot->fast_owner == thread) {
 *         is_due = (uint64_t)slot->countdown <= size;
 *         slot->countdown -= size;
 *         if (!is_due)
 *             return original(...);
 *     }
 *     return hook(...);
 *
 * original(...) is what the exit holds: a jump through words->original, or, for a function that is
 * hooked at its entry, the instruction that the jump at the function's entry displaced, and a jump
 * to the instruction after it. words->original is then the address of the exit itself, so that
 * hooks call it like any function.
 *
 * Outside of an entry and a hook a countdown is greater than zero. It is zero or less only on the
 * way to the hook, which draws a new one. As the comparison is unsigned, an allocation that a
 * signal handler makes in that time is no sample. A size beyond all bounds is greater than any
 * countdown, and goes to the hook.
 *
 * The countdown is memory of the thread's own, and one instruction changes it. So an allocation
 * that a signal handler makes in between is counted, too.
 */
#include "gate_layout.h"
#include "hi_hooks.h"

#define TO_ORIGINAL_BYTES 6 /* size of the jump with which every entry can end */

	.text

	.macro gate_begin name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
9:
	.endm

	.macro gate_end name
	.size \name, . - \name
	.org 9b + GATE_STRIDE - TO_ORIGINAL_BYTES, 0xcc /* an error if the template is too long */
	.org 9b + GATE_STRIDE, 0xcc
	.endm

	.macro to_original
	jmp *9b + GATE_BYTES + WORDS_ORIGINAL(%rip)
	.endm

	/*
	 * The exit to the function itself. If the function is hooked at its entry, the injector
	 * puts the displaced instruction here, and the jump after it.
	 */
	.macro gate_exit name
	.globl \name\()_exit
	.type \name\()_exit, @function
5:
\name\()_exit:
	to_original
	.fill GATE_EXIT_BYTES - TO_ORIGINAL_BYTES, 1, 0xcc
	.size \name\()_exit, GATE_EXIT_BYTES
	.endm

	.macro to_hook
	lea 9b + GATE_BYTES(%rip), %r10
	jmp *WORDS_HOOK(%r10)
	.endm

	/* flags: not equal = the block in rdi may be a sample */
	.macro load_occupancy
	imul $GATE_HASH, %rdi, %rax
	shr $32, %rax
	and 9b + GATE_BYTES + WORDS_OCCUPANCY_MASK(%rip), %eax
	add 9b + GATE_BYTES + WORDS_OCCUPANCY(%rip), %rax
	cmpb $0, (%rax)
	.endm

	.macro count_or_hook name, size
	mov %fs:0, %rax
	imul $THREAD_HASH, %rax, %r11
	shr $(THREAD_HASH_SHIFT - SLOT_BYTES_LOG2), %r11
	and $(((1 << SLOT_BITS) - 1) << SLOT_BYTES_LOG2), %r11d
	add 9b + GATE_BYTES + WORDS_THREAD_SLOTS(%rip), %r11
	cmp %rax, SLOT_FAST_OWNER(%r11)
	jne 2f
1:	sub \size, SLOT_COUNTDOWN(%r11)
	jbe 3f
	gate_exit \name
2:	xor $(1 << SLOT_BYTES_LOG2), %r11
	cmp %rax, SLOT_FAST_OWNER(%r11)
	je 1b
	xor $(2 << SLOT_BYTES_LOG2), %r11
	cmp %rax, SLOT_FAST_OWNER(%r11)
	je 1b
	xor $(1 << SLOT_BYTES_LOG2), %r11
	cmp %rax, SLOT_FAST_OWNER(%r11)
	je 1b
3:	to_hook
	.endm

	gate_begin hi_gate_alloc
	count_or_hook hi_gate_alloc, %rdi
	gate_end hi_gate_alloc

	gate_begin hi_gate_sizearg2
	count_or_hook hi_gate_sizearg2, %rsi
	gate_end hi_gate_sizearg2

	gate_begin hi_gate_sizearg3
	count_or_hook hi_gate_sizearg3, %rdx
	gate_end hi_gate_sizearg3

	/*
	 * A product that overflows is no allocation. The entry leaves it to the hook, and the
	 * original reports the error.
	 */
	gate_begin hi_gate_size2
	mov %rdi, %r10
	imul %rsi, %r10
	jo 3f
	count_or_hook hi_gate_size2, %r10
	gate_end hi_gate_size2

	/* Most blocks are no samples, and the occupancy byte of their home says so. */
	gate_begin hi_gate_free
	load_occupancy
	jne 3f
	gate_exit hi_gate_free
3:	to_hook
	gate_end hi_gate_free

	/*
	 * Does both. It checks the old block first, so that a call that goes to the hook for the
	 * old block has not been counted yet.
	 */
	gate_begin hi_gate_realloc
	load_occupancy
	jne 3f
	count_or_hook hi_gate_realloc, %rsi
	gate_end hi_gate_realloc

	/*
	 * For a realloc that passes a block of NULL on to malloc, whose own entry then counts it.
	 */
	gate_begin hi_gate_realloc_null
	test %rdi, %rdi
	jz 5f
	load_occupancy
	jne 3f
	count_or_hook hi_gate_realloc_null, %rsi
	gate_end hi_gate_realloc_null

	gate_begin hi_gate_always
	to_hook
	gate_exit hi_gate_always
	gate_end hi_gate_always

	/*
	 * Replaces any of the entries above while threads run in them. A thread that is between two
	 * instructions of an entry continues at the same offset in this one. So there is a path to
	 * the original from every byte except the second, and no other entry begins with an
	 * instruction as short as one byte.
	 */
	gate_begin hi_gate_inert
	.byte 0xeb, 127 /* jmp, as far towards the end as it goes */
	.fill GATE_STRIDE - TO_ORIGINAL_BYTES - 2, 1, 0x90
	to_original
	.size hi_gate_inert, . - hi_gate_inert
	.org 9b + GATE_STRIDE, 0xcc

	/*
	 * Not for calls. A borrowed thread returns through this entry, and finds its errno
	 * unchanged, whatever became of the injector that borrowed it.
	 */
	gate_begin hi_gate_restore
	mov 9b + GATE_BYTES + WORDS_RESTORE_AT(%rip), %rax
	mov 9b + GATE_BYTES + WORDS_RESTORE_VALUE(%rip), %ecx
	mov %ecx, (%rax)
	ret
	gate_end hi_gate_restore

/*
 * THE HOOK STUB, common to all hooks: rax = handler, r10 = words, arguments as the application
 * passed them. It builds struct hook_call of arch.h (lowest field pushed last) and calls
 * handler(call). The handler returns rax = result, rdx = whether to continue in the original
 * instead (1), to return through a probe (-1), or to return all that the original has left (-2).
 * Then the stub removes its frame. The arguments are as they were, and the original finds nothing
 * of the payload on the stack. Nor does an unwinder that starts at a probe: it finds the frame of
 * the caller.
 *
 * The stub checks `armed` before anything else: in a forked child it reads 0, and nothing is
 * sampled there. The stub lowers the guard, the count of threads inside, when only one instruction
 * is left to execute here. It needs no lock if the count is the thread's own (see hi_wire.h).
 */
	.p2align 4
	.type hook_stub, @function
hook_stub:
	.cfi_startproc
	mov WORDS_STATE(%r10), %r11
	cmpq $0, STATE_ARMED(%r11)
	je 3f
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %r15
	push %r14
	push %r13
	push %r12
	push %rbx
	push $0
	push %r10
	push $0
	push %r9
	push %r8
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	mov %rsp, %rdi
	call *%rax
	mov CALL_GUARD(%rsp), %r11
	test %rdx, %rdx
	jg 2f
	js 6f
	.cfi_remember_state
	leave
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	test %r11, %r11
	jz 1f
	test $SLOT_SHARED_COUNT, %r11b
	jnz 4f
	decl (%r11)
1:	ret
4:	lock decl (%r11)
	ret
	.cfi_restore_state
	.cfi_remember_state
2:	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %r8
	pop %r9
	add $8, %rsp
	pop %r10
	leave
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	test %r11, %r11
	jz 3f
	test $SLOT_SHARED_COUNT, %r11b
	jnz 5f
	decl (%r11)
	/* a function with variable arguments finds in al how many of them may be in vectors */
3:	mov $8, %eax
	jmp *WORDS_ORIGINAL(%r10)
5:	lock decl (%r11)
	mov $8, %eax
	jmp *WORDS_ORIGINAL(%r10)
	.cfi_restore_state
	.cfi_remember_state
6:	inc %rdx
	jnz 9f
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	leave
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	test %r11, %r11
	jz 7f
	test $SLOT_SHARED_COUNT, %r11b
	jnz 8f
	decl (%r11)
7:	jmp *%rcx
8:	lock decl (%r11)
	jmp *%rcx
	.cfi_restore_state
9:	mov CALL_ARGUMENT2(%rsp), %rdx
	mov CALL_KEPT(%rsp), %rbx
	mov CALL_KEPT + 8(%rsp), %r12
	mov CALL_KEPT + 16(%rsp), %r13
	mov CALL_KEPT + 24(%rsp), %r14
	mov CALL_KEPT + 32(%rsp), %r15
	leave
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	test %r11, %r11
	jz 1b
	test $SLOT_SHARED_COUNT, %r11b
	jnz 4b
	decl (%r11)
	ret
	.cfi_endproc
	.size hook_stub, . - hook_stub

	.macro push_kept register
	push \register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm

	.macro pop_kept register
	pop \register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

/* arch.h */
	.p2align 4
	.globl arch_call_original
	.hidden arch_call_original
	.type arch_call_original, @function
arch_call_original:
	.cfi_startproc
	mov %r8, %r10
	mov %r9, %r11
	mov CALL_ARGUMENT4(%r11), %r8
	mov CALL_ARGUMENT5(%r11), %r9
	mov CALL_WORDS(%r11), %rax
	mov WORDS_RETURN_GADGET(%rax), %rax
	push_kept %rbp
	test %rax, %rax
	jz 1f
	push_kept %rbx
	push_kept %r12
	push_kept %r13
	push_kept %r14
	push_kept %r15
	lea CALL_BP(%r11), %rbp
	lea 2f(%rip), %rbx
	mov %rbx, %r12
	mov %rbx, %r13
	mov %rbx, %r14
	mov %rbx, %r15
	/* aligns the stack; the second push is the return address that a call would leave */
	push %rax
	push %rax
	.cfi_adjust_cfa_offset 16
	jmp *%r10
2:	add $16, %rsp /* removes what the gadget pushed, and the first of the two words */
	.cfi_adjust_cfa_offset -16
	pop_kept %r15
	pop_kept %r14
	pop_kept %r13
	pop_kept %r12
	pop_kept %rbx
	.cfi_remember_state
	pop_kept %rbp
	ret
	.cfi_restore_state
1:	xor %ebp, %ebp
	call *%r10
	pop_kept %rbp
	ret
	.cfi_endproc
	.size arch_call_original, . - arch_call_original

	/* If r11d is \index. */
	.macro for_register index, register, from
	cmp $\index, %r11d
	cmove \from, \register
	.endm

	/* Sets the register through which the gadget calls. */
	.macro set_return_register from0, from1, from2, from3, from4
	for_register 0, %rbx, \from0
	for_register 1, %r12, \from1
	for_register 2, %r13, \from2
	for_register 3, %r14, \from3
	for_register 4, %r15, \from4
	.endm

/*
 * arch.h: rdi = call, rsi = function, rdx = words
 *
 * Of the registers that calls preserve, the original finds its caller's, but for the one through
 * which it returns, and leaves them to its caller, in the frame of the call.
 */
	.p2align 4
	.globl arch_call_whole
	.hidden arch_call_whole
	.type arch_call_whole, @function
arch_call_whole:
	.cfi_startproc
	push_kept %rbp
	push_kept %rbx
	push_kept %r12
	push_kept %r13
	push_kept %r14
	push_kept %r15
	push %rdi
	sub $(8 * STACK_ARGUMENTS), %rsp
	.cfi_adjust_cfa_offset 8 * STACK_ARGUMENTS + 8
1:	sub $1, %rdx
	jb 2f
	mov CALL_BYTES(%rdi, %rdx, 8), %rax
	mov %rax, (%rsp, %rdx, 8)
	jmp 1b
2:	mov CALL_WORDS(%rdi), %rax
	pushq WORDS_RETURN_GADGET(%rax)
	.cfi_adjust_cfa_offset 8
	mov WORDS_RETURN_REGISTER(%rax), %r11d
	lea CALL_BP(%rdi), %rbp
	mov CALL_KEPT(%rdi), %rbx
	mov CALL_KEPT + 8(%rdi), %r12
	mov CALL_KEPT + 16(%rdi), %r13
	mov CALL_KEPT + 24(%rdi), %r14
	mov CALL_KEPT + 32(%rdi), %r15
	lea 3f(%rip), %r10
	set_return_register %r10, %r10, %r10, %r10, %r10
	mov %rsi, %r11
	mov 8(%rdi), %rsi
	mov 16(%rdi), %rdx
	mov 24(%rdi), %rcx
	mov CALL_ARGUMENT4(%rdi), %r8
	mov CALL_ARGUMENT5(%rdi), %r9
	mov (%rdi), %rdi
	mov $8, %eax /* as above */
	jmp *%r11
	/* the gadget has pushed a word in the place of the return address */
3:	mov 8 * STACK_ARGUMENTS + 8(%rsp), %rdi
	mov CALL_WORDS(%rdi), %r11
	mov WORDS_RETURN_REGISTER(%r11), %r11d
	set_return_register CALL_KEPT(%rdi), CALL_KEPT + 8(%rdi), CALL_KEPT + 16(%rdi), \
		CALL_KEPT + 24(%rdi), CALL_KEPT + 32(%rdi)
	mov %rbx, CALL_KEPT(%rdi)
	mov %r12, CALL_KEPT + 8(%rdi)
	mov %r13, CALL_KEPT + 16(%rdi)
	mov %r14, CALL_KEPT + 24(%rdi)
	mov %r15, CALL_KEPT + 32(%rdi)
	add $(8 * STACK_ARGUMENTS + 16), %rsp
	.cfi_adjust_cfa_offset -(8 * STACK_ARGUMENTS + 16)
	pop_kept %r15
	pop_kept %r14
	pop_kept %r13
	pop_kept %r12
	pop_kept %rbx
	pop_kept %rbp
	ret
	.cfi_endproc
	.size arch_call_whole, . - arch_call_whole

	.macro hook name, handler
	.globl hi_hook_\name
	.type hi_hook_\name, @function
hi_hook_\name:
	.cfi_startproc
	lea \handler(%rip), %rax
	jmp hook_stub
	.cfi_endproc
	.size hi_hook_\name, . - hi_hook_\name
	.endm

#define HOOK(number, id, name, symbol, kind, where, nesting, nothrow) hook name, hook_##kind;
	HI_HOOKS(HOOK)

	.section .note.GNU-stack, "", @progbits
