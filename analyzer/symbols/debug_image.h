/* SPDX-License-Identifier: MIT */
/*
 * debug_image.h - the debug sections of an ELF file that names and lines need, unpacked, as an ELF image in memory: what libdw is given to read.
 *
 * Given the file itself libdw reads every debug section there is, half of which nobody asks for, and has them unpacked by zlib, which is most of the time that
 * names take. Everything in the file is hostile input.
 */
#ifndef HI_DEBUG_IMAGE_H
#define HI_DEBUG_IMAGE_H

#include <stddef.h>

#include "objfile.h"

struct debug_image {
	Elf *elf; /* NULL = not open */
	void *bytes;
	size_t size;
};

/* The file need not stay open. -ENOENT: it has no debug information; -ENOTSUP: libdw has to make what it can of the file itself. */
int debug_image_open(const struct objfile *file, struct debug_image *out_image);
void debug_image_close(struct debug_image *image);

#endif
