/* SPDX-License-Identifier: MIT */
/*
 * forwarding.h - may a hook call this function in its caller's stead?
 *
 * The hook of a named function calls it with the arguments in registers and a copy of some words of
 * the caller's stack (HI_ARCH_STACK_ARGUMENTS). Two callee-saved registers are not the caller's
 * meanwhile: the frame pointer, and the one through which it returns. No debug information is
 * needed to see whether it takes more than that: its own code says so, with its unwind information,
 * by which the place of each operand is known relative to the caller's frame.
 *
 * What is examined is the function and whatever it jumps to within its object, as these find the
 * same stack. Nothing here writes.
 */
#ifndef HI_FORWARDING_H
#define HI_FORWARDING_H

#include "eh_frame.h"
#include "elf_images.h"

enum forwarding {
	FORWARDING_WORKS,
	FORWARDING_UNKNOWN,        /* there is code that cannot be followed */
	FORWARDING_TOO_MANY,       /* it reads arguments beyond those that a hook passes on */
	FORWARDING_ADDRESS,        /* it takes the address of arguments on the stack */
	FORWARDING_RETURN_ADDRESS, /* it reads to where it returns */
	FORWARDING_REGISTER,       /* it uses a register of its caller, or changes it */
};

/* kept: index of the register through which it returns, see arch_kept_index. */
enum forwarding forwarding_of(const struct elf_image *image, const struct eh_frame *frame,
			      remote_addr function, unsigned kept);
/* Why not, to be followed by nothing: "it reads more arguments ...". */
const char *forwarding_text(enum forwarding forwarding);

#endif
