/* SPDX-License-Identifier: MIT */
/*
 * unhooked_test.c - this very process has allocators that no slot leads to: they are found by the
 * names of their functions, which nothing exports.
 */
#include "unhooked.h"

#include "own_images.h"
#include "plain_text.h"

/* Volatile, so that the compiler keeps them. */
static volatile int used;

__attribute__((noinline, used)) static void *some_mallocx(size_t size)
{
	return used += (int)size, NULL;
}

/* What only looks like it. */
__attribute__((noinline, used)) static void *xmalloc(size_t size)
{
	return used += (int)size + 1, NULL;
}

/* Not inline: gcc takes a bound for what is read. */
__attribute__((noinline)) static size_t prefix_of(const char *name)
{
	return hi_allocator_prefix(name);
}

static struct unhooked_list found(remote_addr entry)
{
	struct own own = own_open();
	struct allocator allocator;
	struct unhooked_list list = {0};

	CHECK_EQ(allocator_find(&own.images, &allocator), 0);
	unhooked_find(&own.images, &allocator, entry, &list);
	own_close(&own);
	return list;
}

UNIT_TEST(an_allocator_under_a_prefix)
{
	const struct unhooked_list list = found(0);
	char text[UNHOOKED_TEXT_MAX];

	CHECK_EQ(list.count, 1);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_PREFIXED);
	CHECK_EQ(list.unhooked[0].address, (uintptr_t)some_mallocx);
	CHECK(list.unhooked[0].is_main);
	CHECK_STR(list.unhooked[0].function, "some_malloc");
	CHECK(strstr(list.unhooked[0].path, "unhooked_test"));
	CHECK_STR(unhooked_describe(&list, text, sizeof(text)),
		  "some_malloc in the program itself");
}

UNIT_TEST(what_is_hooked_at_its_entry_is_seen)
{
	CHECK_EQ(found((uintptr_t)some_mallocx).count, 0);
}

UNIT_TEST(names_of_allocators_and_of_others)
{
	static const struct {
		const char *name;
		size_t prefix;
	} names[] = {
		{"je_malloc", 3},
		{"_rjem_mallocx", 6},
		{"_rjem_je_malloc", 9},
		{"tc_malloc", 3},
		{"mi_malloc", 3},
		{"anything_mallocx", 9},
		{"malloc", 0},
		{"mallocx", 0},
		{"xmalloc", 0},
		{"zmalloc", 0},
		{"__libc_malloc", 0},
		{"", 0},
		{"je_malloc_default", 0},
	};
	const size_t size = 1000;
	char *endless = calloc(1, size), *end = endless + size - sizeof("mallocx");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_EQ(prefix_of(names[i].name), names[i].prefix);
	memset(endless, 'a', size - 1);
	memcpy(end, "mallocx", sizeof("mallocx"));
	CHECK_EQ(prefix_of(endless), 0);
	CHECK_EQ(prefix_of(end - 50), 50);
	free(endless);
}

UNIT_TEST(descriptions_fit)
{
	struct unhooked_list list = {.count = UNHOOKED_MAX};
	char text[100];

	for (size_t i = 0; i < list.count; i++)
		list.unhooked[i] = (struct unhooked){.how = HI_UNHOOKED_DIRECT,
						     .function = "malloc",
						     .path = "/a/library/whose/name/is/long.so"};
	CHECK_EQ(strlen(unhooked_describe(&list, text, sizeof(text))), sizeof(text) - 1);
	CHECK(!strncmp(text,
		       "malloc in /a/library/whose/name/is/long.so (by direct calls) and malloc in",
		       74));
	CHECK_STR(unhooked_describe(&(struct unhooked_list){0}, text, sizeof(text)), "");
}

UNIT_MAIN()
