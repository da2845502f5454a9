/* SPDX-License-Identifier: MIT */
/*
 * hi_arch.h - x86-64: the numbers of a CPU and its ABI that are part of hi_wire.h, so that injector
 * and payload agree on them. Each CPU has such a header, which defines the same names.
 */
#ifndef HI_ARCH_WIRE_H
#define HI_ARCH_WIRE_H

/* Bytes of the smallest page that the kernel may use; parts of the arena are whole pages. */
#define HI_ARCH_PAGE_BYTES 4096u
/* Bytes of the largest one, and of the largest with which sessions were tested. */
#define HI_ARCH_PAGE_BYTES_MAX 4096u
#define HI_ARCH_PAGE_BYTES_TESTED 4096u
/* Bits of the largest address that a program can use. */
#define HI_ARCH_ADDRESS_BITS 47u
/* Bits of a pointer that the CPU looks at, in programs that have not asked for less. */
#define HI_ARCH_POINTER_BITS 64u

/*
 * Place of the return address, in words of 8 bytes from the CFA, in every frame that an unwind row
 * with this bp_slot describes: the call instruction pushes it.
 */
#define HI_ARCH_RETURN_SLOT(bp_slot) ((void)(bp_slot), -1)
/*
 * 1 = calls leave the return address in a register. Then a frame that has not saved it has a row
 * for the case that a signal interrupts it (HI_UNWIND_LINK), and a frame that was left by its frame
 * pointer alone leaves sp unknown.
 */
#define HI_ARCH_LINK_REGISTER 0
/* Bytes of the stack on which hi_store_words runs, with what a called function returns to. */
#define HI_ARCH_STORE_STACK_BYTES 2048u
/*
 * A frame with a frame pointer and without a row: bytes from the frame pointer up to the CFA, and
 * the place of the caller's frame pointer, in words of 8 bytes from the CFA.
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
