/* SPDX-License-Identifier: MIT */
/*
 * return_gadget.h - the place to which an original returns that a hook has called.
 *
 * Unwinders in the target (libgcc's, libunwind, those of profilers) find unwind rows only for code
 * in the target's link map, and the map loader does not put the payload there: of a stack that is
 * taken inside the original they would see no frame beyond it. So the original returns to an
 * instruction of the target's own code that calls through a register, and that call leads to the
 * payload. The unwind rows of that place must be true of the hook's frame: the CFA is relative to
 * the frame pointer, and all registers that calls preserve are saved right below, in the order that
 * compilers use. Any function with an array of variable size that calls through a pointer has such
 * a place; glibc has a dozen. The gadget appears in the stack as one more frame.
 *
 * Refused are: places right after a call, which are true return addresses as well (quiesce.h takes
 * gadget addresses for the injector's); functions with a personality routine, which would take part
 * in exception handling; objects that can be unloaded; and code that in memory differs from its
 * file.
 */
#ifndef HI_RETURN_GADGET_H
#define HI_RETURN_GADGET_H

#include "elf_images.h"

struct return_gadget {
	remote_addr at; /* 0 = there is none */
	unsigned kept;  /* index of the register through which it calls, see arch_kept_index */
	bool is_signed; /* its rows say that the return address of its frame is signed */
};

/*
 * Searches the allocator's own object first, and takes the first one. If is_for_any is true, it
 * takes one whose register programs use the least for global variables, of all objects: that
 * register is not the caller's while a function runs that returns there, and functions that users
 * name may be of any program.
 */
struct return_gadget return_gadget_find(const struct elf_images *images,
					const struct elf_image *allocator,
					const struct memory *memory, bool is_for_any);

#endif
