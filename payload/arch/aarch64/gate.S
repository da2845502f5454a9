/* SPDX-License-Identifier: MIT */
/*
 * gate.S - the gate's entries, which are the fast path; the stubs through which a thread enters and
 * leaves the slow path; and the call of an original from there. What an entry does, in C, is in the
 * file of the same name for x86-64.
 *
 * GATE ENTRIES are templates. The injector copies one to each entry in use, and puts the words of
 * that entry HI_GATE_BYTES after it. So every access is relative to pc by the local label 9 at the
 * start of the entry (never a global symbol: that would leave a relocation, or an address of zero).
 * An entry may use x9 to x17. It does not touch the stack, so unwinders, signals and detach need
 * not know about it. It leaves for other code by x16, as code with landing pads accepts a jump by
 * that register where a call would be accepted.
 *
 * The countdown is loaded, and stored some instructions later: no instruction that every CPU has
 * does both, and exclusive ones cost more than all of the entry. Of an allocation that a signal
 * handler makes in between the store knows nothing: both count from the same countdown, and if the
 * handler's was a sample, the countdown that it drew is lost. As the exponential distribution has
 * no memory, each of the two is a sample with the probability that it would have alone. What the
 * entry stores is what it compares, so no countdown stays at zero or below
 * (tests/model/countdown.py).
 */
#include "gate_layout.h"
#include "hi_hooks.h"

#define TO_ORIGINAL_BYTES 8 /* size of the jump with which every entry can end */
#define FRAME_BYTES (CALL_BYTES - CALL_BP) /* frame record of the stub, and registers above it */

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
	.org 9b + GATE_STRIDE - TO_ORIGINAL_BYTES, 0 /* an error if the template is too long */
	.org 9b + GATE_STRIDE, 0
	.endm

	.macro to_original
	ldr x16, 9b + GATE_BYTES + WORDS_ORIGINAL
	br x16
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
	.fill GATE_EXIT_BYTES - TO_ORIGINAL_BYTES, 1, 0
	.size \name\()_exit, GATE_EXIT_BYTES
	.endm

	.macro to_hook
	adr x10, 9b + GATE_BYTES
	ldr x16, [x10, #WORDS_HOOK]
	br x16
	.endm

	/* w9: not 0 = the block in x0 may be a sample */
	.macro load_occupancy
	mov w9, #GATE_HASH_LOW
	movk w9, #GATE_HASH_HIGH, lsl #16
	mul x9, x0, x9
	ldr w10, 9b + GATE_BYTES + WORDS_OCCUPANCY_MASK
	and x9, x10, x9, lsr #32
	ldr x10, 9b + GATE_BYTES + WORDS_OCCUPANCY
	ldrb w9, [x10, x9]
	.endm

	.macro count_or_hook name, size
	mrs x9, tpidr_el0
	mov w11, #THREAD_HASH_LOW
	movk w11, #THREAD_HASH_HIGH, lsl #16
	mul x11, x9, x11
	ubfx x11, x11, #THREAD_HASH_SHIFT, #SLOT_BITS
	ldr x10, 9b + GATE_BYTES + WORDS_THREAD_SLOTS
	add x11, x10, x11, lsl #SLOT_BYTES_LOG2
	ldp x12, x13, [x11, #SLOT_FAST_OWNER] /* and the countdown */
	cmp x12, x9
	b.ne 2f
1:	subs x13, x13, \size
	str x13, [x11, #SLOT_COUNTDOWN]
	b.ls 3f
	gate_exit \name
2:	eor x11, x11, #(1 << SLOT_BYTES_LOG2)
	ldp x12, x13, [x11, #SLOT_FAST_OWNER]
	cmp x12, x9
	b.eq 1b
	eor x11, x11, #(2 << SLOT_BYTES_LOG2)
	ldp x12, x13, [x11, #SLOT_FAST_OWNER]
	cmp x12, x9
	b.eq 1b
	eor x11, x11, #(1 << SLOT_BYTES_LOG2)
	ldp x12, x13, [x11, #SLOT_FAST_OWNER]
	cmp x12, x9
	b.eq 1b
3:	to_hook
	.endm

	gate_begin hi_gate_alloc
	count_or_hook hi_gate_alloc, x0
	gate_end hi_gate_alloc

	gate_begin hi_gate_sizearg2
	count_or_hook hi_gate_sizearg2, x1
	gate_end hi_gate_sizearg2

	gate_begin hi_gate_sizearg3
	count_or_hook hi_gate_sizearg3, x2
	gate_end hi_gate_sizearg3

	/*
	 * A product that overflows is no allocation. The entry leaves it to the hook, and the
	 * original reports the error.
	 */
	gate_begin hi_gate_size2
	umulh x9, x0, x1
	cbnz x9, 3f
	mul x15, x0, x1
	count_or_hook hi_gate_size2, x15
	gate_end hi_gate_size2

	/* Most blocks are no samples, and the occupancy byte of their home says so. */
	gate_begin hi_gate_free
	load_occupancy
	cbnz w9, 3f
	gate_exit hi_gate_free
3:	to_hook
	gate_end hi_gate_free

	/*
	 * Does both. It checks the old block first, so that a call that goes to the hook for the
	 * old block has not been counted yet.
	 */
	gate_begin hi_gate_realloc
	load_occupancy
	cbnz w9, 3f
	count_or_hook hi_gate_realloc, x1
	gate_end hi_gate_realloc

	/*
	 * For a realloc that passes a block of NULL on to malloc, whose own entry then counts it.
	 */
	gate_begin hi_gate_realloc_null
	cbz x0, 5f
	load_occupancy
	cbnz w9, 3f
	count_or_hook hi_gate_realloc_null, x1
	gate_end hi_gate_realloc_null

	gate_begin hi_gate_always
	to_hook
	gate_exit hi_gate_always
	gate_end hi_gate_always

	/*
	 * Replaces any of the entries above while threads run in them. A thread that is between two
	 * instructions of an entry continues at the same offset in this one. The last two
	 * instructions are loaded anew: no other entry has any in their place.
	 */
	gate_begin hi_gate_inert
	b 1f
	.rept (GATE_STRIDE - TO_ORIGINAL_BYTES) / 4 - 1
	nop
	.endr
1:	to_original
	.size hi_gate_inert, . - hi_gate_inert
	.org 9b + GATE_STRIDE, 0

	/*
	 * Not for calls. A borrowed thread returns through this entry, and finds its errno
	 * unchanged, whatever became of the injector that borrowed it. Where it goes then is the
	 * first word of the guard frame, at which sp points (injector/arch/aarch64/guard.c).
	 */
	gate_begin hi_gate_restore
	ldr x9, 9b + GATE_BYTES + WORDS_RESTORE_AT
	ldr w10, 9b + GATE_BYTES + WORDS_RESTORE_VALUE
	str w10, [x9]
	ldr x30, [sp]
	ret
	gate_end hi_gate_restore

/*
 * THE HOOK STUB, common to all hooks: x11 = handler, x10 = words, arguments as the application
 * passed them. It builds struct hook_call of arch.h and calls handler(call). The handler returns
 * x0 = result, x1 = whether to continue in the original instead (1), to return through a probe
 * (-1), or to return both words of what the original has left (-2). Then the stub removes its
 * frame. The arguments are as they were, and the original finds nothing of the payload on the
 * stack. Nor does an unwinder that starts at a probe.
 *
 * The stub checks `armed` before anything else: in a forked child it reads 0, and nothing is
 * sampled there. It lowers the guard, the count of threads inside, when only a branch is left to
 * execute here. The store is a release: a reader of the count sees what was done before. It is
 * the same for counts that several threads change.
 */
	.macro lower_guard
	cbz x12, 8f
7:	ldxr w13, [x12]
	sub w13, w13, #1
	stlxr w14, w13, [x12]
	cbnz w14, 7b
8:
	.endm

	.macro leave_frame
	mov sp, x29
	.cfi_def_cfa_register sp
	ldp x29, x30, [sp], #FRAME_BYTES
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	.endm

	/* x19 to x28 */
	.macro store_kept at, offset
	stp x19, x20, [\at, #\offset]
	stp x21, x22, [\at, #(\offset + 16)]
	stp x23, x24, [\at, #(\offset + 32)]
	stp x25, x26, [\at, #(\offset + 48)]
	stp x27, x28, [\at, #(\offset + 64)]
	.endm

	.macro load_kept at, offset
	ldp x19, x20, [\at, #\offset]
	ldp x21, x22, [\at, #(\offset + 16)]
	ldp x23, x24, [\at, #(\offset + 32)]
	ldp x25, x26, [\at, #(\offset + 48)]
	ldp x27, x28, [\at, #(\offset + 64)]
	.endm

	.p2align 4
	.type hook_stub, @function
hook_stub:
	.cfi_startproc
	ldr x12, [x10, #WORDS_STATE]
	add x12, x12, #(STATE_ARMED >> 12), lsl #12
	ldr x12, [x12]
	cbz x12, 3f
	stp x29, x30, [sp, #-FRAME_BYTES]!
	.cfi_def_cfa_offset FRAME_BYTES
	.cfi_offset x29, -FRAME_BYTES
	.cfi_offset x30, 8 - FRAME_BYTES
	mov x29, sp
	.cfi_def_cfa_register x29
	sub sp, sp, #CALL_BP
	stp x0, x1, [sp]
	stp x2, x3, [sp, #16]
	stp x4, x5, [sp, #CALL_ARGUMENT4]
	stp x6, x7, [sp, #CALL_ARGUMENT6]
	stp x8, xzr, [sp, #CALL_RESULT_AT] /* guard */
	stp x10, xzr, [sp, #CALL_WORDS]    /* begun */
	store_kept sp, CALL_KEPT
	mov x0, sp
	blr x11
	ldr x12, [sp, #CALL_GUARD]
	tbnz x1, #63, 6f
	cbnz x1, 2f
	.cfi_remember_state
	leave_frame
	lower_guard
	ret
	.cfi_restore_state
	.cfi_remember_state
2:	ldp x0, x1, [sp]
	ldp x2, x3, [sp, #16]
	ldp x4, x5, [sp, #CALL_ARGUMENT4]
	ldp x6, x7, [sp, #CALL_ARGUMENT6]
	ldr x8, [sp, #CALL_RESULT_AT]
	ldr x10, [sp, #CALL_WORDS]
	leave_frame
	lower_guard
3:	ldr x16, [x10, #WORDS_ORIGINAL]
	br x16
	.cfi_restore_state
	.cfi_remember_state
6:	adds x1, x1, #1
	b.eq 9f
	ldr x1, [sp, #CALL_ARGUMENT2]
	load_kept sp, CALL_KEPT
	leave_frame
	lower_guard
	ret
	.cfi_restore_state
	/* The result is in x0, so that the probe's arguments are in the registers after it. */
9:	ldp x1, x2, [sp]
	ldp x3, x16, [sp, #16]
	leave_frame
	lower_guard
	br x16
	.cfi_endproc
	.size hook_stub, . - hook_stub

	/* x4 to x8 */
	.macro load_more_arguments from
	ldp x4, x5, [\from, #CALL_ARGUMENT4]
	ldp x6, x7, [\from, #CALL_ARGUMENT6]
	ldr x8, [\from, #CALL_RESULT_AT]
	.endm

	/*
	 * Of the frame of the call in x9, if the word in w11 has HI_RETURN_SIGNED: its return
	 * address as unwinders expect it by the rows of the gadget, and as it was. (pacia1716 and
	 * xpaclri; CPUs that sign no addresses take them for nops.)
	 */
	.macro sign_return
	tbz w11, #RETURN_SIGNED_BIT, 1f
	ldr x17, [x9, #(CALL_BP + 8)]
	add x16, x9, #CALL_BYTES
	hint #8
	str x17, [x9, #(CALL_BP + 8)]
1:
	.endm

	.macro strip_return
	tbz w11, #RETURN_SIGNED_BIT, 1f
	ldr x30, [x9, #(CALL_BP + 8)]
	hint #7
	str x30, [x9, #(CALL_BP + 8)]
1:
	.endm

#define OWN_KEPT 16 /* in the frames of the functions below */
#define OWN_CALL 96
#define OWN_BYTES 112

	.macro begin_own_frame
	stp x29, x30, [sp, #-OWN_BYTES]!
	.cfi_def_cfa_offset OWN_BYTES
	.cfi_offset x29, -OWN_BYTES
	.cfi_offset x30, 8 - OWN_BYTES
	store_kept sp, OWN_KEPT
	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	.cfi_offset x\register, OWN_KEPT - OWN_BYTES + 8 * (\register - 19)
	.endr
	.endm

	.macro end_own_frame
	load_kept sp, OWN_KEPT
	ldp x29, x30, [sp], #OWN_BYTES
	.cfi_def_cfa_offset 0
	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	.cfi_restore x\register
	.endr
	ret
	.endm

/*
 * arch.h: x0 to x3 = arguments, x4 = function, x5 = call. x29 leads to the frame record of the
 * stub, so that an unwinder by such records finds the hook's caller next, with and without a
 * gadget.
 */
	.p2align 4
	.globl arch_call_original
	.hidden arch_call_original
	.type arch_call_original, @function
arch_call_original:
	.cfi_startproc
	begin_own_frame
	str x5, [sp, #OWN_CALL]
	mov x15, x4
	mov x9, x5
	ldr x10, [x9, #CALL_WORDS]
	ldr w11, [x10, #WORDS_RETURN_REGISTER]
	ldr x30, [x10, #WORDS_RETURN_GADGET]
	add x29, x9, #CALL_BP
	load_more_arguments x9
	cbz x30, 3f
	sign_return
	adr x19, 2f
	.irp register, 20, 21, 22, 23, 24, 25, 26, 27, 28
	mov x\register, x19
	.endr
	mov x16, x15
	br x16
2:	ldr x9, [sp, #OWN_CALL]
	ldr x10, [x9, #CALL_WORDS]
	ldr w11, [x10, #WORDS_RETURN_REGISTER]
	strip_return
	.cfi_remember_state
	end_own_frame
	.cfi_restore_state
3:	mov x16, x15
	blr x16
	end_own_frame
	.cfi_endproc
	.size arch_call_original, . - arch_call_original

/*
 * arch.h: x0 = call, x1 = function, x2 = words
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
	begin_own_frame
	str x0, [sp, #OWN_CALL]
	sub sp, sp, #(8 * STACK_ARGUMENTS)
	.cfi_def_cfa_offset OWN_BYTES + 8 * STACK_ARGUMENTS
	mov x9, x0
	mov x15, x1
	add x10, x9, #CALL_BYTES
1:	subs x2, x2, #1
	b.lo 2f
	ldr x11, [x10, x2, lsl #3]
	str x11, [sp, x2, lsl #3]
	b 1b
2:	ldr x10, [x9, #CALL_WORDS]
	ldr w11, [x10, #WORDS_RETURN_REGISTER]
	ldr x30, [x10, #WORDS_RETURN_GADGET]
	sign_return
	add x29, x9, #CALL_BP
	load_kept x9, CALL_KEPT
	and w11, w11, #~(1 << RETURN_SIGNED_BIT)
	adr x12, 3f
	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	cmp w11, #(\register - 19)
	csel x\register, x12, x\register, eq
	.endr
	ldp x0, x1, [x9]
	ldp x2, x3, [x9, #16]
	load_more_arguments x9
	mov x16, x15
	br x16
3:	add sp, sp, #(8 * STACK_ARGUMENTS)
	.cfi_def_cfa_offset OWN_BYTES
	ldr x9, [sp, #OWN_CALL]
	ldr x10, [x9, #CALL_WORDS]
	ldr w11, [x10, #WORDS_RETURN_REGISTER]
	strip_return
	and w11, w11, #~(1 << RETURN_SIGNED_BIT)
	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	ldr x12, [x9, #(CALL_KEPT + 8 * (\register - 19))]
	cmp w11, #(\register - 19)
	csel x\register, x12, x\register, eq
	.endr
	store_kept x9, CALL_KEPT
	end_own_frame
	.cfi_endproc
	.size arch_call_whole, . - arch_call_whole

	.macro hook name, handler
	.globl hi_hook_\name
	.type hi_hook_\name, @function
hi_hook_\name:
	.cfi_startproc
	adrp x11, \handler
	add x11, x11, :lo12:\handler
	b hook_stub
	.cfi_endproc
	.size hi_hook_\name, . - hi_hook_\name
	.endm

#define HOOK(number, id, name, symbol, kind, where, nesting, nothrow) hook name, hook_##kind;
	HI_HOOKS(HOOK)

	.section .note.GNU-stack, "", @progbits
