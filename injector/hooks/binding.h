/* SPDX-License-Identifier: MIT */
/*
 * binding.h - where will the dynamic linker bind a slot that is not bound yet?
 *
 * For an object that was loaded with the program it searches the objects that were loaded with the program, in link-map order. For one that came by dlopen it
 * searches these and the group that the object came with, and nothing that can be seen from outside tells in which order (RTLD_DEEPBIND), nor what the group is
 * (RTLD_LOCAL). A reference to a version passes over definitions of other versions. So the answer is sometimes that nobody knows, and then the slot is left
 * alone: a block must never be freed by an allocator that it is not from.
 */
#ifndef HI_BINDING_H
#define HI_BINDING_H

#include "elf_images.h"

struct definition {
	const struct elf_image *image;
	uint16_t version; /* elf_dynamic_find_any */
};

/* All definitions of one function to which a slot in the base namespace may be bound. Zeroed: none. Valid as long as the images. */
struct definitions {
	struct definition *definition;
	size_t count;
};
must_check int definitions_find(const struct elf_images *images, const char *name, struct definitions *out_definitions);
void definitions_close(struct definitions *definitions);

/* The reference of an object to a function. */
struct reference {
	const struct elf_images *images;
	const struct elf_image *importer;
	const struct definitions *definitions; /* of the function */
	uint16_t version;                      /* elf_dynamic_version */
};

/* Has it to be bound to the definition in `definer`, which is the first in link-map order? False: perhaps not. */
bool binding_is_certain(const struct reference *reference, const struct elf_image *definer);

/*
 * Another reference of the same object is bound already. Has this one to be bound in the same object? It has if each object that defines its function defines
 * the other one, too, in the same version, and both are asked for in the same version: then whichever is searched first serves both.
 */
bool binding_follows(const struct reference *reference, const struct reference *bound);

#endif
