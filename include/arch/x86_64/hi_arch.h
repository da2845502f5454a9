/* SPDX-License-Identifier: MIT */
/*
 * hi_arch.h - x86-64: the numbers of a CPU and its ABI that are part of hi_wire.h, so that injector
 * and payload agree on them. Each CPU has such a header, which defines the same names.
 */
#ifndef HI_ARCH_WIRE_H
#define HI_ARCH_WIRE_H

/* Bytes of the smallest page that the kernel may use; parts of the arena are whole pages. */
#define HI_ARCH_PAGE_BYTES 4096u
/* Bits of the largest address that a program can use. */
#define HI_ARCH_ADDRESS_BITS 47u

/*
 * Bytes from the return address up to the CFA, in every frame that an unwind row describes: the
 * call instruction pushes it.
 */
#define HI_ARCH_RETURN_BELOW_CFA 8
/*
 * A frame with a frame pointer and without a row: bytes from the frame pointer up to the CFA, and
 * the place of the caller's frame pointer, in words of 8 bytes from the CFA.
 */
#define HI_ARCH_FRAME_CFA 16
#define HI_ARCH_FRAME_BP_SLOT (-2)

/* Bytes of the exit of a gate entry; hi_gate_<class>_exit in the payload image. */
#define HI_ARCH_GATE_EXIT_BYTES 16u

#endif
