/* SPDX-License-Identifier: MIT */
/*
 * return_gadget.h - where an original returns to that a hook has called.
 *
 * Unwinders in the target (libgcc's, libunwind, those of profilers) find unwind rows for code in its link map alone, and with the map loader the payload is not
 * there: of a stack that is taken inside the original they would see nothing beyond it. So the original returns to an instruction of the target's own that
 * calls what a register leads to, and that is the payload. The rows for that place have to say what is true of the hook's frame: the CFA goes by the frame
 * pointer, and all registers that calls keep are saved right below, in the order of compilers. Any function with an array of variable size that calls through a
 * pointer is such a place; glibc has a dozen. It stands in the stack as one more frame.
 *
 * Refused are: places behind a call, which are true return addresses as well (quiesce.h takes them for ours); functions with a personality routine, which
 * would have a say in exceptions; objects that can be unloaded; and code that is not in memory as in its file.
 */
#ifndef HI_RETURN_GADGET_H
#define HI_RETURN_GADGET_H

#include "elf_images.h"

/* Looked for in the allocator's own object first. 0: there is none. */
remote_addr return_gadget_find(const struct elf_images *images, const struct elf_image *allocator, const struct memory *memory);

#endif
