/* SPDX-License-Identifier: MIT */
/*
 * hi_arch.h - aarch64: the numbers of a CPU and its ABI that are part of hi_wire.h, so that
 * injector and payload agree on them. Each CPU has such a header, which defines the same names.
 */
#ifndef HI_ARCH_WIRE_H
#define HI_ARCH_WIRE_H

/* Bytes of the smallest page that the kernel may use; parts of the arena are whole pages. */
#define HI_ARCH_PAGE_BYTES 4096u
/* Bytes of the largest one, and of the largest with which sessions were tested. */
#define HI_ARCH_PAGE_BYTES_MAX 65536u
#define HI_ARCH_PAGE_BYTES_TESTED 16384u
/* Bits of the largest address that a program can use; above 48 it has to ask for them. */
#define HI_ARCH_ADDRESS_BITS 52u
/*
 * Bits of a pointer that the CPU looks at. The kernel has it ignore those above in every program;
 * tags of memory tagging are among them (arch/arm64/tagged-pointers.rst of its documentation).
 */
#define HI_ARCH_POINTER_BITS 56u

/*
 * Place of the return address, in words of 8 bytes from the CFA, in a frame that an unwind row with
 * this bp_slot describes: functions save x29 and x30 as a pair. Other places are in rows of other
 * kinds (hi_wire.h).
 */
#define HI_ARCH_RETURN_SLOT(bp_slot) ((bp_slot) + 1)
/*
 * 1 = calls leave the return address in a register. Then a frame that has not saved it has a row
 * for the case that a signal interrupts it (HI_UNWIND_LINK), and a frame that was left by its frame
 * pointer alone leaves sp unknown.
 */
#define HI_ARCH_LINK_REGISTER 1
/*
 * Bytes of the stack on which hi_store_words runs, with what a called function returns to: a frame
 * of the kernel's with all vector registers (ARCH_GUARD_HEAD). It ends where the largest page does.
 */
#define HI_ARCH_STORE_STACK_BYTES 63488u
/*
 * A frame with a frame pointer and without a row: bytes from the frame pointer up to the CFA, and
 * the place of the caller's frame pointer, in words of 8 bytes from the CFA. Here this is the end
 * of the frame record, not of the frame.
 */
#define HI_ARCH_FRAME_CFA 16
#define HI_ARCH_FRAME_BP_SLOT (-2)

/*
 * Words of the caller's stack that are passed on to a named function: the arguments that are not in
 * registers. An even number: the stack stays aligned.
 */
#define HI_ARCH_STACK_ARGUMENTS 32

/* Bytes of the exit of a gate entry; hi_gate_<class>_exit in the payload image. */
#define HI_ARCH_GATE_EXIT_BYTES 16u

#endif
