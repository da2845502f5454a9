/* SPDX-License-Identifier: MIT */
/*
 * binding_test.c - programs made up of a few objects: a program, an allocator that comes before
 * libc, libc, and two libraries that came by dlopen. Real ones are in tests/integration/deepbind.
 */
#include "binding.h"

#include "own_images.h"

enum object { PROGRAM, ALLOCATOR, LIBC, PLUGIN, OTHER, OBJECTS };

static struct elf_image image[OBJECTS] = {
	[PROGRAM] = {.link_order = 0, .is_pinned = true},
	[ALLOCATOR] = {.link_order = 1, .is_pinned = true},
	[LIBC] = {.link_order = 2, .is_pinned = true},
	[PLUGIN] = {.link_order = 3},
	[OTHER] = {.link_order = 4},
};
static struct elf_images images = {.image = image, .count = OBJECTS};

#define NONE ELF_VERSION_NONE

static bool is_certain(enum object importer, const struct definition *definition, size_t count,
		       enum object definer)
{
	struct definition copy[OBJECTS];
	const struct definitions definitions = {copy, count};
	const struct reference reference = {.images = &images,
					    .importer = &image[importer],
					    .definitions = &definitions,
					    .version = 2};

	memcpy(copy, definition, count * sizeof(*definition));
	return binding_is_certain(&reference, &image[definer]);
}
#define IS_CERTAIN(importer, definer, ...)                                                       \
	is_certain(importer, (const struct definition[]){__VA_ARGS__},                           \
		   sizeof((const struct definition[]){__VA_ARGS__}) / sizeof(struct definition), \
		   definer)

UNIT_TEST(what_one_object_defines_is_found_there)
{
	for (enum object importer = PROGRAM; importer < OBJECTS; importer++)
		CHECK(IS_CERTAIN(importer, LIBC, {&image[LIBC], 2}));
	CHECK(!IS_CERTAIN(PROGRAM, ALLOCATOR, {&image[LIBC], 2}));
}

UNIT_TEST(what_came_with_the_program_goes_by_the_order)
{
	CHECK(IS_CERTAIN(PROGRAM, ALLOCATOR, {&image[ALLOCATOR], NONE}, {&image[LIBC], 2}));
	/* which it does not search, or last */
	CHECK(IS_CERTAIN(PROGRAM, LIBC, {&image[LIBC], 2}, {&image[PLUGIN], NONE}));
}

UNIT_TEST(a_version_passes_over_definitions)
{
	CHECK(!IS_CERTAIN(PROGRAM, ALLOCATOR, {&image[ALLOCATOR], 3}, {&image[LIBC], 2}));
	/* not the default one, else it were the first */
	CHECK(!IS_CERTAIN(PROGRAM, LIBC, {&image[ALLOCATOR], 3}, {&image[LIBC], 2}));
}

UNIT_TEST(an_object_may_search_itself_first)
{
	CHECK(!IS_CERTAIN(LIBC, ALLOCATOR, {&image[ALLOCATOR], NONE}, {&image[LIBC], 2}));
	CHECK(!IS_CERTAIN(PLUGIN, LIBC, {&image[LIBC], 2}, {&image[PLUGIN], NONE}));
}

UNIT_TEST(nobody_knows_what_came_by_dlopen_searches_first)
{
	CHECK(!IS_CERTAIN(PLUGIN, LIBC, {&image[LIBC], 2}, {&image[OTHER], NONE}));
	CHECK(!IS_CERTAIN(PLUGIN, ALLOCATOR, {&image[ALLOCATOR], NONE}, {&image[LIBC], 2}));
	images.unread = 1;
	CHECK(!IS_CERTAIN(PLUGIN, LIBC, {&image[LIBC], 2}));
	CHECK(IS_CERTAIN(PROGRAM, LIBC, {&image[LIBC], 2}));
}

UNIT_TEST(other_namespaces_have_other_objects)
{
	image[OTHER].link_order = -1;
	CHECK(!IS_CERTAIN(OTHER, LIBC, {&image[LIBC], 2}));
}

UNIT_TEST(one_slot_follows_another)
{
	struct definition both[] = {{&image[ALLOCATOR], NONE}, {&image[LIBC], 2}},
			  late[] = {{&image[OTHER], NONE},
				    {&image[ALLOCATOR], NONE},
				    {&image[LIBC], 2}};
	const struct definitions of_two = {both, 2}, of_three = {late, 3};
	const struct reference malloc_bound = {&images, &image[PLUGIN], &of_two, 2},
			       free_unbound = malloc_bound;
	struct reference other = {&images, &image[PLUGIN], &of_three, 2};

	CHECK(binding_follows(&free_unbound, &malloc_bound));
	CHECK(binding_follows(&free_unbound, &other));
	/* an object that has this one only may come before all */
	CHECK(!binding_follows(&other, &malloc_bound));
	other = malloc_bound;
	other.version = 3;
	CHECK(!binding_follows(&other, &malloc_bound));
	images.unread = 1;
	CHECK(!binding_follows(&free_unbound, &malloc_bound));
}

UNIT_TEST(other_versions_are_not_followed)
{
	struct definition bound[] = {{&image[OTHER], 3}, {&image[LIBC], 2}},
			  unbound[] = {{&image[OTHER], 4}, {&image[LIBC], 2}};
	const struct definitions of_bound = {bound, 2}, of_unbound = {unbound, 2};
	const struct reference malloc_bound = {&images, &image[PLUGIN], &of_bound, 2},
			       free_unbound = {&images, &image[PLUGIN], &of_unbound, 2};

	CHECK(!binding_follows(&free_unbound, &malloc_bound));
	bound[0].version = unbound[0].version = ELF_VERSION_SEVERAL;
	CHECK(!binding_follows(&free_unbound, &malloc_bound));
}

UNIT_TEST(definitions_of_this_process)
{
	struct own own = own_open();
	struct definitions definitions;

	CHECK_EQ(own.images.unread, 0);
	CHECK_EQ(definitions_find(&own.images, "pvalloc", &definitions), 0);
#ifndef __SANITIZE_ADDRESS__ /* which defines it, too */
	CHECK_EQ(definitions.count, 1);
#endif
	CHECK(strstr(definitions.definition[0].image->path, "libc.so") != NULL);
	CHECK(definitions.definition[0].version > ELF_VERSION_NONE);
	definitions_close(&definitions);
	CHECK_EQ(definitions_find(&own.images, "no_such_function", &definitions), 0);
	CHECK_EQ(definitions.count, 0);
	own_close(&own);
}

/* What ld.so defines counts only if nothing else does. */
UNIT_TEST(the_loader_comes_last)
{
	struct own own = own_open();
	struct definitions definitions;

	for (size_t i = 0; i < own.images.count; i++)
		own.images.image[i].is_loader = strstr(own.images.image[i].path, "libc.so") != NULL;
	CHECK_EQ(definitions_find(&own.images, "pvalloc", &definitions), 0);
	CHECK_EQ(definitions.count, 1);
	definitions_close(&definitions);
	own_close(&own);
}

UNIT_MAIN()
