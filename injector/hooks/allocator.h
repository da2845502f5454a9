/* SPDX-License-Identifier: MIT */
/*
 * allocator.h - the object that defines malloc in a target, and where the target has the functions
 * of HI_HOOKS: their originals.
 *
 * The original of a function is its first definition in link-map order, in an object that is never
 * unloaded. Found from symbol tables; nothing here writes.
 */
#ifndef HI_ALLOCATOR_H
#define HI_ALLOCATOR_H

#include "elf_images.h"
#include "hi_wire.h"

/*
 * The originals by function. 0 = this target has no such function, or it must not be hooked
 * (libstdc++'s operators).
 */
struct allocator {
	remote_addr original[HI_FUNCTION_COUNT];
	/*
	 * For throwing operator new. plain: malloc or memalign, where their blocks are
	 * interchangeable; else the nothrow variant. 0 = there is none.
	 */
	remote_addr plain[HI_FUNCTION_COUNT], nothrow[HI_FUNCTION_COUNT];
	/* address of the word in which the C++ library keeps its new-handler; 0 = not known */
	remote_addr new_handler;
	/*
	 * malloc_usable_size of the object that defines malloc and the function; 0 = it has none,
	 * or none that may be called
	 */
	remote_addr usable_size[HI_FUNCTION_COUNT];
	/* malloc_usable_size may also be called by threads that free */
	bool is_asked_at_free;
	const struct elf_image *image; /* object that defines malloc */
};

/* -ENOENT: nothing in the link map defines malloc. */
must_check int allocator_find(const struct elf_images *images, struct allocator *out_allocator);
/* Fills in allocator->new_handler, if it can be determined. */
void allocator_find_new_handler(const struct elf_images *images, const struct memory *memory,
				struct allocator *allocator);

#endif
