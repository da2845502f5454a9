/* SPDX-License-Identifier: MIT */
/*
 * pool_operators.h - operators new of the program, or of its libraries, that give parts of blocks
 * of their own.
 *
 * Most objects that define operator new wrap malloc, and their blocks are seen there. A pool calls
 * malloc, or mmap, for large blocks only. It is not hooked: its blocks would count twice, and what
 * its operator delete takes is not known. So it is named.
 */
#ifndef HI_POOL_OPERATORS_H
#define HI_POOL_OPERATORS_H

#include "target_allocators.h"

/*
 * Fills in allocators->pool, of those of allocators->operator_new that may return although they
 * called no allocator, as their code shows. What cannot be followed (pointers, other libraries than
 * the C library) may be an allocator.
 */
void pool_operators_find(const struct elf_images *images, struct allocators *allocators);

#endif
