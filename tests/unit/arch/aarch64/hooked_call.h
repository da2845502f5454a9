/* SPDX-License-Identifier: MIT */
/*
 * hooked_call.h - aarch64: what a hooked function finds of its caller, and what a hook takes of the
 * stack.
 */
#ifndef HI_HOOKED_CALL_H
#define HI_HOOKED_CALL_H

#include <stddef.h>
#include <stdint.h>

/*
 * A function that saves all registers that calls keep, and makes a call by one of them: what the
 * injector looks for in the target's own code.
 */
void gadget_of_a_test(void);
#define FRAME_OF_A_TEST                                                        \
	".cfi_def_cfa x29, 96\n .cfi_offset x29, -96\n .cfi_offset x30, -88\n" \
	".irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"              \
	" .cfi_offset x\\register, -80 + 8 * (\\register - 19)\n .endr\n"
__asm__(".text\n"
	".p2align 2\n"
	"frame_of_a_test: .cfi_startproc\n" FRAME_OF_A_TEST "nop\n"
	".globl gadget_of_a_test\n .type gadget_of_a_test, %function\n"
	"gadget_of_a_test: blr x21\n"
	".cfi_endproc\n");

/* Without a gadget, does a stack that an original takes end at the hook? */
#define STACK_ENDS_IN_ORIGINALS 0

static inline void *malloc_at_frame_pointer(size_t size)
{
	(void)size;
	return NULL;
}

/* An allocator whose block is wherever its stack begins. */
void *malloc_at_stack_pointer(size_t size);
__asm__(".text\n"
	".p2align 2\n"
	".globl malloc_at_stack_pointer\n"
	".type malloc_at_stack_pointer, %function\n"
	"malloc_at_stack_pointer: mov x0, sp\n"
	"	ret\n");

/* function(a, b), at the top of another stack. */
static inline void call_on_stack(void *function, uint64_t a, uint64_t b, uint8_t *top)
{
	register uint64_t first __asm__("x0") = a, second __asm__("x1") = b;

	__asm__ volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[function]\n\tmov sp, x19"
			 : "+r"(first), "+r"(second)
			 : [top] "r"(top), [function] "r"(function)
			 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x19", "x30", "memory", "cc");
}

/* The most that a hook takes. */
#define HOOK_STACK_MAX 800

/* Bytes of an instruction, and of the last two, with which an inert entry ends. */
#define INERT_STEP 4
#define INERT_LAST_BYTES 8

#endif
