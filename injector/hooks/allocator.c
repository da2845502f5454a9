/* SPDX-License-Identifier: MIT */
/* allocator.c - see allocator.h. Enter at allocator_find. */
#include "allocator.h"

#include <errno.h>

#include "arch.h"
#include "hook_table.h"

/* ---- usable size ----------------------------------------------------------------------------- */

/*
 * malloc_usable_size is the only function of the target's libraries that the payload calls of its
 * own accord. So it is called only in allocators in which it was examined: it reads what belongs to
 * the block, and does nothing else (docs/safety.md). They are recognized by a symbol that only they
 * have. Wrappers of malloc may do anything in this function; that of gperftools goes through a slot
 * that is not bound yet, and aborts for blocks of its emergency allocator.
 */
static const struct {
	const char *mark;
	/*
	 * A thread that frees may call it, too, be it one that never allocates. In such a thread
	 * jemalloc's builds the thread's cache.
	 */
	bool is_asked_at_free;
} asked[] = {
	{"gnu_get_libc_version", true}, /* glibc */
	{"__optreset", true},           /* musl */
	{"mallctl", false},             /* jemalloc */
	{"mi_usable_size", false},      /* mimalloc: not examined */
};

static remote_addr usable_size_in(const struct elf_image *image, bool *out_is_asked_at_free)
{
	remote_addr function, mark;

	*out_is_asked_at_free = false;
	if (elf_image_symbol(image, "malloc_usable_size", &function, NULL))
		return 0;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (elf_image_symbol(image, asked[i].mark, &mark, NULL) == 0) {
			*out_is_asked_at_free = asked[i].is_asked_at_free;
			return function;
		}
	return 0;
}

/* ---- operator new ---------------------------------------------------------------------------- */

/*
 * Are blocks of operator new the same as blocks of malloc? Certainly if operator delete is the same
 * function as free, which then cannot tell them apart (gperftools, mimalloc). jemalloc's operator
 * delete jumps to free. Allocators that check for errors do distinguish them: gperftools' debugging
 * variant ends a program that deletes a block from malloc.
 */
static bool is_new_malloc(const struct elf_image *image)
{
	remote_addr delete, release, mark;

	if (elf_image_symbol(image, hook_table[HI_FN_DELETE].symbol, &delete, NULL) ||
	    elf_image_symbol(image, hook_table[HI_FN_FREE].symbol, &release, NULL))
		return false;
	return delete == release || elf_image_symbol(image, "mallctl", &mark, NULL) == 0;
}

/*
 * Takes it from the code of the function that returns it. If the library can be unloaded, the word
 * would be unmapped with it.
 */
void allocator_find_new_handler(const struct elf_images *images, const struct memory *memory,
				struct allocator *allocator)
{
	const struct elf_image *image;
	uint8_t code[ARCH_ENTRY_MAX];
	remote_addr getter;

	if (!elf_images_resolve(images, "_ZSt15get_new_handlerv", &getter, &image) &&
	    image->is_pinned && !memory_read(memory, getter, code, sizeof(code)))
		allocator->new_handler = arch_returned_word(code, getter);
}

/*
 * Throwing operator new, and the function that the hook calls instead, so that no exception passes
 * through the hook. An operator without such a function is not hooked: the hook would have nothing
 * to call. A function of another object will not do, because its blocks may be from elsewhere.
 */
static void find_variants_of_new(struct allocator *allocator)
{
	const bool is_malloc = is_new_malloc(allocator->image);
	remote_addr address;

	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++) {
		const struct hook *hook = &hook_table[function];

		if (hook->nothrow == HI_FN_NONE || !allocator->original[function])
			continue;
		if (is_malloc && !elf_image_symbol(allocator->image, hook_table[hook->plain].symbol,
						   &address, NULL))
			allocator->plain[function] = address;
		else if (!elf_image_symbol(allocator->image, hook_table[hook->nothrow].symbol,
					   &address, NULL))
			allocator->nothrow[function] = address;
		else
			/* a wrapper of malloc, most likely, which is hooked itself */
			allocator->original[function] = 0;
	}
}

/* ---- originals ------------------------------------------------------------------------------- */

int allocator_find(const struct elf_images *images, struct allocator *out_allocator)
{
	struct allocator allocator = {0};
	remote_addr address;
	int err = elf_images_resolve(images, hook_table[HI_FN_MALLOC].symbol, &address,
				     &allocator.image);

	if (err)
		return err;
	const remote_addr usable_size =
		usable_size_in(allocator.image, &allocator.is_asked_at_free);
	for (int function = 0; function < HI_FUNCTION_COUNT; function++) {
		const struct elf_image *image;

		if (elf_images_resolve(images, hook_table[function].symbol, &address, &image) < 0)
			continue;
		/*
		 * The rest of the program would not be bound to an object loaded by dlopen, and
		 * that object may be unloaded.
		 */
		if (image == allocator.image ||
		    (image->is_pinned && !hook_table[function].allocator_only))
			allocator.original[function] = address;
		if (image == allocator.image)
			allocator.usable_size[function] = usable_size;
	}
	find_variants_of_new(&allocator);
	*out_allocator = allocator;
	return 0;
}
