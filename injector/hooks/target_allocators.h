/* SPDX-License-Identifier: MIT */
/*
 * target_allocators.h - all allocators of a target, and which of them can be hooked.
 *
 * The first is the one whose malloc the dynamic linker finds first: the calls of most objects lead
 * to it. Others are called by names with a prefix (je_malloc, mi_malloc), by the very object that
 * they are linked into, or by objects that are bound to them (RTLD_DEEPBIND). In a program without
 * a dynamic linker the first is the malloc that is linked into it.
 *
 * Functions of all allocators together are numbered: a hook is allocator * HI_FUNCTION_COUNT +
 * function. So the hooks below HI_FUNCTION_COUNT are those of the first allocator, and they alone
 * can be hooked by slots. Found from symbol tables; nothing here writes, or stops the target.
 */
#ifndef HI_TARGET_ALLOCATORS_H
#define HI_TARGET_ALLOCATORS_H

#include "allocator.h"

#define ALLOCATORS_MAX 6u
#define HOOKS_MAX (ALLOCATORS_MAX * HI_FUNCTION_COUNT)
#define OPERATORS_NEW (HI_FN_NEW_ARRAY_ALIGNED_NOTHROW - HI_FN_NEW + 1u)

struct allocators {
	/*
	 * Those of unknown family, except the first and those with a prefix, may be wrappers of
	 * another one. Their originals are 0: to hook both would count each block twice.
	 */
	struct allocator allocator[ALLOCATORS_MAX];
	size_t count;
	unsigned prefixes_found; /* bit n: of prefix number n that was asked for */
	/* address of the word in which the C++ library keeps its new-handler; 0 = not known */
	remote_addr new_handler;
	/* of functions that the user has named, from HI_FN_NAMED_ALLOC_0 on */
	struct hi_named_arguments named[2 * HI_NAMED_MAX];
	/*
	 * operators new, from HI_FN_NEW on, of the program or of a library that has no allocator;
	 * 0 = there is none
	 */
	remote_addr operator_new[OPERATORS_NEW];
	/* the objects of those that give parts of blocks of their own (pool_operators.h), or NULL
	 */
	const struct elf_image *pool[OPERATORS_NEW];
	/*
	 * An object that is no C library grows the heap (brk, sbrk), and it is not known to do with
	 * other memory where the heap cannot grow.
	 */
	bool takes_heap;
};

static inline enum hi_function hook_function(unsigned hook)
{
	return (enum hi_function)(hook % HI_FUNCTION_COUNT);
}
static inline const struct allocator *hook_allocator(const struct allocators *allocators,
						     unsigned hook)
{
	return &allocators->allocator[hook / HI_FUNCTION_COUNT];
}
/* 0: there is no such function, or it must not be hooked. */
static inline remote_addr hook_original(const struct allocators *allocators, unsigned hook)
{
	return hook_allocator(allocators, hook)->original[hook_function(hook)];
}

/*
 * asked: more prefixes to look for, NULL = none. Of an allocator of unknown family with such a
 * prefix only the functions of the C library count: what others of its functions take is not known.
 * -ENOENT: there is no malloc. Other errors are those of slots_find.
 */
must_check int allocators_find(const struct elf_images *images, const struct memory *memory,
			       const struct hi_prefixes *asked, struct allocators *out_allocators);
/*
 * Adds those of objects that have come since: is_new, by their number. The images of the others
 * are not looked at.
 */
must_check int allocators_find_more(const struct elf_images *images, const bool *is_new,
				    const struct memory *memory, const struct hi_prefixes *asked,
				    struct allocators *allocators);
/* Fills in allocators->new_handler, if it can be determined. */
void allocators_find_new_handler(const struct elf_images *images, const struct memory *memory,
				 struct allocators *allocators);

#endif
