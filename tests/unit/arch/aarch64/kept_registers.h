/* SPDX-License-Identifier: MIT */
/*
 * kept_registers.h - aarch64: registers that calls preserve, in a function that the user has named.
 * To be included by one test alone: it defines variables.
 */
#ifndef HI_KEPT_REGISTERS_H
#define HI_KEPT_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define KEPT 5u /* x19 to x23 */

/* What the injector looks for in the target's own code, by the register through which it calls. */
void gadget_x19(void), gadget_x20(void), gadget_x21(void), gadget_x22(void), gadget_x23(void);
static void (*const gadgets[KEPT])(void) = {gadget_x19, gadget_x20, gadget_x21, gadget_x22,
					    gadget_x23};
__asm__(".text\n"
	".p2align 2\n"
	"gadget_x19: blr x19\n"
	"gadget_x20: blr x20\n"
	"gadget_x21: blr x21\n"
	"gadget_x22: blr x22\n"
	"gadget_x23: blr x23\n");

/* Where a function leaves a result of that type. */
#define LONG_DOUBLES_IN_VECTORS 1

/*
 * A function with global variables in registers: notes what is in them, and adds 1 to each, but for
 * the one that it leaves alone.
 */
uint64_t seen_kept[KEPT];
unsigned return_register;
uint64_t kept_alloc(void *pool, size_t size);
__asm__(".text\n"
	".p2align 2\n"
	".globl kept_alloc\n"
	".type kept_alloc, %function\n"
	"kept_alloc: adrp x9, seen_kept\n"
	"	add x9, x9, :lo12:seen_kept\n"
	"	stp x19, x20, [x9]\n"
	"	stp x21, x22, [x9, #16]\n"
	"	str x23, [x9, #32]\n"
	"	adrp x9, return_register\n"
	"	ldr w9, [x9, :lo12:return_register]\n"
	"	.irp register, 19, 20, 21, 22, 23\n"
	"	cmp w9, #(\\register - 19)\n"
	"	cinc x\\register, x\\register, ne\n"
	"	.endr\n"
	"	mov w0, #0x20000\n"
	"	ret\n");

/* function(0x1000, 10), with these in the registers, and what is in them then. */
static inline void call_with_kept(void *function, uint64_t kept[KEPT])
{
	register uint64_t pool __asm__("x0") = 0x1000, size __asm__("x1") = 10;
	register uint64_t *at __asm__("x24") = kept;

	__asm__ volatile("ldp x19, x20, [%[at]]\n\tldp x21, x22, [%[at], #16]\n\t"
			 "ldr x23, [%[at], #32]\n\tblr %[function]\n\t"
			 "stp x19, x20, [%[at]]\n\tstp x21, x22, [%[at], #16]\n\t"
			 "str x23, [%[at], #32]"
			 : "+r"(pool), "+r"(size)
			 : [at] "r"(at), [function] "r"(function)
			 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23",
			   "x30", "memory", "cc");
}

#endif
