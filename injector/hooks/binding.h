/* SPDX-License-Identifier: MIT */
/*
 * binding.h - where will the dynamic linker bind a slot that is not bound yet?
 *
 * For an object that was loaded with the program, the dynamic linker searches the objects that were
 * loaded with the program, in link-map order. For an object loaded by dlopen it searches these
 * objects and the group that the object was loaded with. Nothing that can be seen from outside
 * shows in which order (RTLD_DEEPBIND), nor which objects are in the group (RTLD_LOCAL). A
 * reference to a version skips definitions of other versions. So the answer is sometimes unknown,
 * and then the slot is left alone: a block must never be freed by an allocator other than the one
 * that allocated it.
 */
#ifndef HI_BINDING_H
#define HI_BINDING_H

#include "elf_images.h"

struct definition {
	const struct elf_image *image;
	uint16_t version; /* elf_dynamic_find_any */
};

/*
 * All definitions of one function to which a slot in the base namespace may be bound. Zeroed: none.
 * Valid as long as the images are.
 */
struct definitions {
	struct definition *definition;
	size_t count;
};
must_check int definitions_find(const struct elf_images *images, const char *name,
				struct definitions *out_definitions);
void definitions_close(struct definitions *definitions);

/* The reference of an object to a function. */
struct reference {
	const struct elf_images *images;
	const struct elf_image *importer;
	const struct definitions *definitions; /* of the function */
	uint16_t version;                      /* elf_dynamic_version */
};

/*
 * Must the dynamic linker bind it to the definition in `definer`, which is the first in link-map
 * order? False: perhaps not.
 */
bool binding_is_certain(const struct reference *reference, const struct elf_image *definer);

/*
 * Another reference of the same object, `bound`, is bound already. Must this one be bound in the
 * same object? Yes if each object that defines its function also defines the other function, in the
 * same version, and both references ask for the same version: then the object that is searched
 * first serves both.
 */
bool binding_follows(const struct reference *reference, const struct reference *bound);

#endif
