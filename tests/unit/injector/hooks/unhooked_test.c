/* SPDX-License-Identifier: MIT */
/* unhooked_test.c - what is said of allocators that are not hooked. */
#include "unhooked.h"

#include "unit.h"

/* Not inline: gcc takes a bound for what is read. */
__attribute__((noinline)) static size_t prefix_of(const char *name)
{
	return hi_allocator_prefix(name);
}

/* An allocator under a prefix in this program, beside libc's. */
static char program_path[] = "/some/program", libc_path[] = "/lib/libc.so.6";
static const struct elf_image program = {.path = program_path, .is_main = true},
			      libc = {.path = libc_path};

static struct allocators both(void)
{
	return (struct allocators){
		.allocator =
			{{.image = &libc, .reach = ALLOCATOR_BY_SLOTS},
			 {.image = &program,
			  .reach = ALLOCATOR_PREFIXED,
			  .prefix = "some_",
			  .original = {[HI_FN_MALLOC] = 1, [HI_FN_CALLOC] = 2, [HI_FN_FREE] = 3}}},
		.count = 2};
}

/* No function is hooked but that which frees. */
static void begin(struct entries *entries)
{
	entries_clear(entries);
	entries->entry[HI_FN_FREE].at = entries->entry[HI_FUNCTION_COUNT + HI_FN_FREE].at = 3;
}

static void hook_all(struct entries *entries)
{
	begin(entries);
	entries->entry[HI_FUNCTION_COUNT + HI_FN_MALLOC].at = 1;
	entries->entry[HI_FUNCTION_COUNT + HI_FN_CALLOC].at = 2;
}

UNIT_TEST(an_allocator_under_a_prefix)
{
	const struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;
	char text[UNHOOKED_TEXT_MAX];

	begin(&entries);
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_PREFIXED);
	CHECK(list.unhooked[0].is_main);
	CHECK_STR(list.unhooked[0].function, "some_malloc");
	CHECK_STR(unhooked_describe(&list, false, text, sizeof(text)),
		  "some_malloc in the program itself");
}

UNIT_TEST(what_is_hooked_at_its_entry_is_seen)
{
	const struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	hook_all(&entries);
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 0);
}

/* What is freed by a function that is not seen would count as a leak. */
UNIT_TEST(a_function_that_frees_is_told_of_by_itself)
{
	struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;
	char text[UNHOOKED_TEXT_MAX];

	begin(&entries);
	entries.entry[HI_FUNCTION_COUNT + HI_FN_FREE].at = 0;
	entries.entry[HI_FUNCTION_COUNT + HI_FN_MALLOC].at = 1;
	entries.entry[HI_FUNCTION_COUNT + HI_FN_CALLOC].at = 2;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_FREE);
	CHECK_STR(unhooked_describe(&list, false, text, sizeof(text)), "");
	CHECK_STR(unhooked_describe(&list, true, text, sizeof(text)),
		  "some_free in the program itself");
	entries.is_seen_inside[HI_FUNCTION_COUNT + HI_FN_FREE] = true;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 0);
}

UNIT_TEST(an_allocator_that_frees_nothing_has_a_function_that_is_not_known)
{
	struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	hook_all(&entries);
	allocators.allocator[1].original[HI_FN_FREE] = 0;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_FREE);
	CHECK_STR(list.unhooked[0].function, "some_free");
}

UNIT_TEST(one_function_that_is_not_hooked_is_named)
{
	const struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	begin(&entries);
	entries.entry[HI_FUNCTION_COUNT + HI_FN_MALLOC].at = 1;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_STR(list.unhooked[0].function, "some_calloc");
}

/* Those of a stripped program that has the C++ library in it. */
UNIT_TEST(operators_that_nothing_names_are_told_of)
{
	struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	begin(&entries);
	allocators.count = 1;
	allocators.allocator[0].image = &program;
	allocators.allocator[0].hides_operators = true;
	allocators.allocator[0].original[HI_FN_MALLOC] = 1;
	allocators.allocator[0].original[HI_FN_FREE] = 3;
	entries.entry[HI_FN_MALLOC].at = 1;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_STR(list.unhooked[0].function, "operator new");
}

/* By slots the program's own calls of its own malloc are not met. */
UNIT_TEST(direct_calls_of_the_program_are_not_seen_by_slots)
{
	struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	begin(&entries);
	allocators.count = 1;
	allocators.allocator[0].image = &program;
	allocators.allocator[0].original[HI_FN_MALLOC] = 1;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 1);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_DIRECT);
}

UNIT_TEST(names_of_allocators_and_of_others)
{
	static const struct {
		const char *name;
		size_t prefix;
	} names[] = {
		{"je_malloc", 3},         {"_rjem_mallctl", 6},
		{"_rjem_je_malloc", 9},   {"tc_malloc", 3},
		{"mi_malloc", 3},         {"anything_mallctl", 9},
		{"alloc_mallocx", 0},     {"malloc", 0},
		{"mallocx", 0},           {"mallctl", 0},
		{"xmalloc", 0},           {"zmalloc", 0},
		{"__libc_malloc", 0},     {"", 0},
		{"je_malloc_default", 0},
	};
	const size_t size = 1000;
	char *endless = calloc(1, size), *end = endless + size - sizeof("mallctl");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_EQ(prefix_of(names[i].name), names[i].prefix);
	memset(endless, 'a', size - 1);
	memcpy(end, "mallctl", sizeof("mallctl"));
	CHECK_EQ(prefix_of(endless), 0);
	CHECK_EQ(prefix_of(end - 50), 50);
	free(endless);
}

UNIT_TEST(names_of_copies)
{
	static const struct {
		const char *name;
		size_t length;
	} names[] = {{"je_calloc.constprop.0", 9},
		     {"malloc.isra.0.part.1", 6},
		     {"je_free.part.0", 7},
		     {"malloc.lto_priv.3", 6},
		     {"malloc.llvm.123", 6},
		     {"malloc.cold", 0},
		     {"malloc.constprop.0.cold", 0},
		     {"_Znwm.localalias", 0},
		     {"malloc", 0},
		     {".part.", 0},
		     {"", 0}};
	char *name = calloc(1, 1000);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_EQ(hi_copied_name(names[i].name), names[i].length);
	memset(name, 'a', 999);
	CHECK_EQ(hi_copied_name(name), 0);
	free(name);
}

UNIT_TEST(copies_and_pools_are_told_of)
{
	struct allocators allocators = both();
	static struct entries entries;
	struct unhooked_list list;

	hook_all(&entries);
	strcpy(allocators.allocator[1].copy, "some_calloc.isra.0");
	strcpy(allocators.allocator[1].free_copy, "some_free.part.0");
	allocators.pool[1] = &program;
	unhooked_find(&allocators, &entries, &list);
	CHECK_EQ(list.count, 3);
	CHECK_EQ(list.unhooked[0].how, HI_UNHOOKED_COPY);
	CHECK_STR(list.unhooked[0].function, "some_calloc.isra.0");
	CHECK_EQ(list.unhooked[1].how, HI_UNHOOKED_FREE);
	CHECK_STR(list.unhooked[1].function, "some_free.part.0");
	CHECK_EQ(list.unhooked[2].how, HI_UNHOOKED_POOL);
	CHECK_STR(list.unhooked[2].function, "operator new[]");
}

UNIT_TEST(descriptions_fit)
{
	struct unhooked_list list = {.count = UNHOOKED_MAX};
	char text[100];

	for (size_t i = 0; i < list.count; i++)
		list.unhooked[i] = (struct unhooked){.how = HI_UNHOOKED_DIRECT,
						     .function = "malloc",
						     .path = "/a/library/whose/name/is/long.so"};
	CHECK_EQ(strlen(unhooked_describe(&list, false, text, sizeof(text))), sizeof(text) - 1);
	CHECK(!strncmp(text,
		       "malloc in /a/library/whose/name/is/long.so (by direct calls) and malloc in",
		       74));
	CHECK_STR(unhooked_describe(&(struct unhooked_list){0}, false, text, sizeof(text)), "");
}

UNIT_TEST(what_has_come_since_is_added_once)
{
	struct allocators allocators = both();
	struct unhooked_list list = {0};
	char text[UNHOOKED_TEXT_MAX];

	allocators.allocator[allocators.count++] =
		(struct allocator){.image = &libc, .reach = ALLOCATOR_APART};
	for (int i = 0; i < 2; i++)
		unhooked_add(&allocators, 2, &list);
	CHECK_EQ(list.count, 1);
	CHECK_STR(unhooked_describe(&list, false, text, sizeof(text)),
		  "malloc in /lib/libc.so.6 (the one of another namespace, made by dlmopen)");
}

UNIT_MAIN()
