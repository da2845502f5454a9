/* SPDX-License-Identifier: MIT */
/* elfimage_open.h - one ELF object of a target, for elfimage.c, which finds them all. */
#ifndef HI_ELFIMAGE_OPEN_H
#define HI_ELFIMAGE_OPEN_H

#include "elfimage.h"

struct elfimage_source {
	pid_t pid; /* whose /proc entries work: a zombie leader's do not */
	const struct maps *maps;
	const struct memory *memory;
	bool *taken;       /* by number of mapping: belongs to an image already */
	size_t *copy_room; /* how much memory the copies of images that cannot be opened may still take, all together */
};

/*
 * Opens the object that begins with mapping number `first`, and takes its mappings. image: zeroed but for fd = -1, link_order = -1; to be closed in any case.
 * -ENOEXEC: no ELF file of this CPU, or none of its code is mapped.
 */
must_check int elfimage_open(const struct elfimage_source *source, size_t first, struct elf_image *image);
/* Is an image of an earlier reading what begins with this mapping? Never one that was copied from memory. */
bool elfimage_is_same(const struct elf_image *known, const struct mapping *mapping);
/* In the place of elfimage_open: what the file says comes from `known`, and belongs to it until elfimage_take_over. */
must_check int elfimage_open_known(const struct elfimage_source *source, size_t first, struct elf_image *known, struct elf_image *image);
void elfimage_take_over(struct elf_image *image);
void elfimage_close(struct elf_image *image);

bool elfimage_is_vdso(const struct mapping *mapping);

#endif
