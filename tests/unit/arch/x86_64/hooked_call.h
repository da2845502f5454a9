/* SPDX-License-Identifier: MIT */
/*
 * hooked_call.h - x86-64: what a hooked function finds of its caller, and what a hook takes of the
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
__asm__(".text\n"
	"frame_of_a_test: .cfi_startproc\n"
	".cfi_def_cfa %rbp, 16\n .cfi_offset %rbp, -16\n .cfi_offset %r15, -24\n .cfi_offset %r14, "
	"-32\n"
	".cfi_offset %r13, -40\n .cfi_offset %r12, -48\n .cfi_offset %rbx, -56\n"
	"nop\n"
	".globl gadget_of_a_test\n .type gadget_of_a_test, @function\n"
	"gadget_of_a_test: call *%r13\n"
	".cfi_endproc\n");

/* Without a gadget, does a stack that an original takes end at the hook? */
#define STACK_ENDS_IN_ORIGINALS 1

/* An allocator whose blocks begin 64 bytes behind wherever its caller's frame pointer points to. */
__attribute__((naked)) static void *malloc_at_frame_pointer(__attribute__((unused)) size_t size)
{
	__asm__("lea 64(%rbp), %rax\n\tret");
}

/* An allocator whose block is wherever its stack begins. */
__attribute__((naked)) static void *malloc_at_stack_pointer(__attribute__((unused)) size_t size)
{
	__asm__("lea 8(%rsp), %rax\n\tret");
}

/* function(a, b), at the top of another stack. */
static inline void call_on_stack(void *function, uint64_t a, uint64_t b, uint8_t *top)
{
	__asm__ volatile(
		"mov %%rsp, %%rbx\n\tmov %[top], %%rsp\n\tcall *%[function]\n\tmov %%rbx, %%rsp"
		: "+D"(a), "+S"(b)
		: [top] "r"(top), [function] "r"(function)
		: "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
}

/* The most that a hook takes, the return address included. */
#define HOOK_STACK_MAX 608

/* How often an inert entry has an instruction, and the bytes of the last jump. */
#define INERT_STEP 1
#define INERT_LAST_BYTES 6

#endif
