/* SPDX-License-Identifier: MIT */
/*
 * allocator.h - one allocator of a target: where its functions are, and what is known of it.
 *
 * An allocator is a set of functions whose blocks belong together: what one of them allocates,
 * another one frees. Its functions have the names of HI_HOOKS, all with the same prefix, most often
 * none. target_allocators.h finds all allocators of a process. Nothing here writes.
 */
#ifndef HI_ALLOCATOR_H
#define HI_ALLOCATOR_H

#include "elf_images.h"
#include "hi_allocator_names.h"
#include "hi_wire.h"

/*
 * Which allocator it is, by symbols that only that one has. Of those that are known it is known,
 * too, that they call no other allocator for the memory of a block.
 */
enum allocator_family {
	ALLOCATOR_UNKNOWN,
	ALLOCATOR_GLIBC,
	ALLOCATOR_MUSL,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC, /* gperftools */
	ALLOCATOR_MIMALLOC,
	/*
	 * its functions take a type first (rte_malloc), and several processes may share its blocks:
	 * it is only named
	 */
	ALLOCATOR_DPDK,
};

/* How calls come to an allocator. */
enum allocator_reach {
	ALLOCATOR_BY_SLOTS, /* the calls of most objects, through their slots: the first of all */
	ALLOCATOR_DIRECT,   /* calls of its own object, which other objects cannot make */
	ALLOCATOR_PREFIXED, /* calls by names with a prefix */
	ALLOCATOR_BOUND,    /* calls of objects that are bound to it, not to the first */
	ALLOCATOR_APART,    /* calls of objects in a namespace of its own (dlmopen) */
};

/* The functions by enum hi_function. */
struct allocator {
	const struct elf_image *image; /* object that defines its malloc */
	enum allocator_reach reach;
	enum allocator_family family;
	char prefix[HI_ALLOCATOR_NAME_MAX]; /* of the names of its functions; "": none */
	remote_addr malloc; /* by its name: where it is, even if it must not be hooked */
	/* 0 = it has no such function, or it must not be hooked (libstdc++'s operators) */
	remote_addr original[HI_FUNCTION_COUNT];
	/*
	 * For throwing operator new. plain: malloc or memalign, where their blocks are
	 * interchangeable; else the nothrow variant. 0 = there is none.
	 */
	remote_addr plain[HI_FUNCTION_COUNT], nothrow[HI_FUNCTION_COUNT];
	/*
	 * malloc_usable_size of the object that defines malloc and the function; 0 = it has none,
	 * or none that may be called
	 */
	remote_addr usable_size[HI_FUNCTION_COUNT];
	/* malloc_usable_size may also be called by threads that free */
	bool is_asked_at_free;
	/*
	 * It is linked into a stripped program: which functions it has beside those that the
	 * program exports is not known.
	 */
	bool hides_functions;
	/*
	 * It is linked into a stripped C++ program that neither exports nor imports operator new:
	 * there are operators whose place is not known.
	 */
	bool hides_operators;
	/*
	 * The first function that allocates and whose name is that of one of the allocator's, but
	 * of which it is not certain that it is one. "" = there is none.
	 */
	char doubtful[HI_ALLOCATOR_NAME_MAX];
	/*
	 * The first copy that the compiler made of a function that allocates
	 * (je_calloc.constprop.0) and of one that frees, which are not hooked: what they take is
	 * not known. "" = there is none.
	 */
	char copy[HI_ALLOCATOR_NAME_MAX], free_copy[HI_ALLOCATOR_NAME_MAX];
};

/*
 * Fills in the functions of the allocator with this prefix that the image defines, whether it
 * exports them or not, and its family. *room: as in elf_symbols.h. False: it has no malloc, or what
 * has that name may be something else.
 */
bool allocator_open(const struct elf_image *image, const char *prefix, size_t *room,
		    struct allocator *out_allocator);

#endif
