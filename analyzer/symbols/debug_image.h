/* SPDX-License-Identifier: MIT */
/*
 * debug_image.h - makes an ELF image in memory for libdw to read: the debug sections of an ELF file
 * that names and lines need, unpacked.
 *
 * Given the file itself, libdw reads every debug section, half of which nothing needs, and has them
 * unpacked by zlib, which takes most of the time for names. Everything in the file is hostile
 * input.
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

/*
 * The file need not stay open. 0; -ENOENT: it has no debug information; -ENOTSUP: there is no
 * image, and the caller has to give libdw the file itself.
 */
int debug_image_open(const struct objfile *file, struct debug_image *out_image);
void debug_image_close(struct debug_image *image);

#endif
