/* SPDX-License-Identifier: MIT */
/* allocator_test.c - the allocator of this very process, and where its functions are. */
#include "allocator.h"

#include <dlfcn.h>
#include <errno.h>

#include "own_images.h"

struct view {
	struct own own;
	struct allocator allocator;
};

static struct view view_open(void)
{
	struct view view = {.own = own_open()};

	CHECK_EQ(allocator_find(&view.own.images, &view.allocator), 0);
	return view;
}

static void view_close(struct view *view)
{
	own_close(&view->own);
}

UNIT_TEST(originals_are_what_dlsym_finds)
{
	struct view view = view_open();

	CHECK_EQ(view.allocator.original[HI_FN_MALLOC], address_of(dlsym(RTLD_DEFAULT, "malloc")));
	CHECK_EQ(view.allocator.original[HI_FN_FREE], address_of(dlsym(RTLD_DEFAULT, "free")));
	CHECK_EQ(view.allocator.original[HI_FN_POSIX_MEMALIGN],
		 address_of(dlsym(RTLD_DEFAULT, "posix_memalign")));
	CHECK_EQ(elf_images_find(&view.own.images, view.allocator.original[HI_FN_MALLOC]) -
			 view.allocator.image,
		 0);
	CHECK_EQ(view.allocator.original[HI_FN_MALLOCX], 0);
	view_close(&view);
}

UNIT_TEST(operators_of_another_object_are_not_hooked)
{
	CHECK(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL) != NULL);
	struct view view = view_open();

	if (elf_image_symbol(view.allocator.image, "_Znwm", &(remote_addr){0}, NULL) == 0)
		SKIP("the allocator of this build defines them itself");
	CHECK_EQ(view.allocator.original[HI_FN_NEW], 0);
	CHECK_EQ(view.allocator.nothrow[HI_FN_NEW], 0);
	CHECK_EQ(view.allocator.original[HI_FN_DELETE], 0);
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
	allocator_find_new_handler(&view.own.images, &view.own.memory, &view.allocator);
	CHECK_EQ(view.allocator.new_handler, 0);
	for (size_t i = 0; i < view.own.images.count; i++)
		view.own.images.image[i].is_pinned = true;
	allocator_find_new_handler(&view.own.images, &view.own.memory, &view.allocator);
	CHECK(view.allocator.new_handler != 0);
	CHECK(*(void **)(uintptr_t)view.allocator.new_handler == &handler);
	set(NULL);
	view_close(&view);
}

UNIT_TEST(a_program_without_libc_has_no_allocator)
{
	struct own own = own_open();
	struct allocator allocator;

	for (size_t i = 0; i < own.images.count; i++)
		own.images.image[i].link_order = own.images.image[i].is_main ? 0 : -1;
	CHECK_EQ(allocator_find(&own.images, &allocator), -ENOENT);
	own_close(&own);
}

UNIT_MAIN()
