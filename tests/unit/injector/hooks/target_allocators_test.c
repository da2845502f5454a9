/* SPDX-License-Identifier: MIT */
/* target_allocators_test.c - the allocators of this very process, and where their functions are. */
#include "target_allocators.h"

#include <dlfcn.h>
#include <errno.h>

#include "own_images.h"

struct view {
	struct own own;
	struct allocators allocators;
	const struct allocator *first;
};

static struct view view_open(void)
{
	static struct view view;

	view = (struct view){.own = own_open(), .first = &view.allocators.allocator[0]};
	CHECK_EQ(allocators_find(&view.own.images, &view.own.memory, NULL, &view.allocators), 0);
	return view;
}

static void view_close(struct view *view)
{
	own_close(&view->own);
}

UNIT_TEST(originals_are_what_dlsym_finds)
{
	struct view view = view_open();

	CHECK_EQ(view.first->original[HI_FN_MALLOC], address_of(dlsym(RTLD_DEFAULT, "malloc")));
	CHECK_EQ(view.first->original[HI_FN_FREE], address_of(dlsym(RTLD_DEFAULT, "free")));
	CHECK_EQ(view.first->original[HI_FN_POSIX_MEMALIGN],
		 address_of(dlsym(RTLD_DEFAULT, "posix_memalign")));
	CHECK_EQ(elf_images_find(&view.own.images, view.first->original[HI_FN_MALLOC]) -
			 view.first->image,
		 0);
	CHECK_EQ(view.first->original[HI_FN_MALLOCX], 0);
	view_close(&view);
}

UNIT_TEST(operators_of_another_object_are_not_hooked)
{
	CHECK(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL) != NULL);
	struct view view = view_open();

	if (elf_image_symbol(view.first->image, "_Znwm", &(remote_addr){0}, NULL) == 0)
		SKIP("the allocator of this build defines them itself");
	CHECK_EQ(view.first->original[HI_FN_NEW], 0);
	CHECK_EQ(view.first->nothrow[HI_FN_NEW], 0);
	CHECK_EQ(view.first->original[HI_FN_DELETE], 0);
	view_close(&view);
}

/*
 * Where the C++ library keeps it is known by code of the library, and only while that is certain to
 * stay.
 */
UNIT_TEST(the_new_handler_is_where_the_library_reads_it)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
	void *(*set)(void *) =
		(void *(*)(void *))(uintptr_t)dlsym(library, "_ZSt15set_new_handlerPFvvE");
	static char handler;
	struct view view = view_open();

	CHECK(set != NULL);
	set(&handler);
	for (size_t i = 0; i < view.own.images.count; i++)
		view.own.images.image[i].is_pinned = false;
	allocators_find_new_handler(&view.own.images, &view.own.memory, &view.allocators);
	CHECK_EQ(view.allocators.new_handler, 0);
	for (size_t i = 0; i < view.own.images.count; i++)
		view.own.images.image[i].is_pinned = true;
	allocators_find_new_handler(&view.own.images, &view.own.memory, &view.allocators);
	CHECK(view.allocators.new_handler != 0);
	CHECK(*(void **)(uintptr_t)view.allocators.new_handler == &handler);
	set(NULL);
	view_close(&view);
}

UNIT_TEST(a_program_without_libc_has_no_allocator)
{
	struct own own = own_open();
	struct allocators allocators;

	for (size_t i = 0; i < own.images.count; i++)
		own.images.image[i].link_order = own.images.image[i].is_main ? 0 : -1;
	CHECK_EQ(allocators_find(&own.images, &own.memory, NULL, &allocators), -ENOENT);
	own_close(&own);
}

UNIT_MAIN()
