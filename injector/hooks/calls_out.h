/* SPDX-License-Identifier: MIT */
/*
 * calls_out.h - does a function reach code that its compiler did not see?
 *
 * The callers of a function may be compiled together with it, and know which registers it changes
 * (gcc -fipa-ra, which -O1 implies; the same with link-time optimization). They keep values in the
 * others across the call. A hook changes all registers that a function may change by the ABI. So a
 * function may be hooked only if its callers must expect just that: if it may end up in another
 * object, or in whatever a pointer leads to. Every allocator that asks for memory by a library's
 * mmap does so, and one that ends in a call of a method. One that serves blocks of an array of the
 * program's own does not.
 */
#ifndef HI_CALLS_OUT_H
#define HI_CALLS_OUT_H

#include "elf_images.h"
#include "eh_frame.h"

/*
 * frame: of the image, may be empty. False: all code that it calls, and that calls, lies in the
 * image and is known. A function that reaches very many others is taken for one that calls out.
 */
bool calls_out(const struct elf_image *image, const struct eh_frame *frame, remote_addr function);

#endif
