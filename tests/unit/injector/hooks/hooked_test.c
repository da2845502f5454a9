/* SPDX-License-Identifier: MIT */
/* hooked_test.c - what is said of what is hooked, of each allocator. */
#include "hooked.h"

#include "unit.h"

static char program_path[] = "/some/program", libc_path[] = "/lib/li\nbc.so.6";
static const struct elf_image program = {.path = program_path, .is_main = true},
			      libc = {.path = libc_path};

static struct allocators both(void)
{
	return (struct allocators){
		.allocator =
			{{.image = &libc,
			  .family = ALLOCATOR_GLIBC,
			  .reach = ALLOCATOR_BY_SLOTS,
			  .original = {[HI_FN_MALLOC] = 1, [HI_FN_CALLOC] = 2, [HI_FN_FREE] = 3}},
			 {.image = &program,
			  .reach = ALLOCATOR_PREFIXED,
			  .prefix = "some_",
			  .original = {[HI_FN_MALLOC] = 1, [HI_FN_FREE] = 3}}},
		.count = 2};
}

UNIT_TEST(each_way_is_counted_and_what_is_left_has_a_reason)
{
	const struct allocators allocators = both();
	static struct entries entries;
	char text[HOOKED_TEXT_MAX];

	entries_clear(&entries);
	entries.entry[HI_FN_MALLOC].at = 1;
	entries.covered_by[HI_FN_FREE] = HI_FN_MALLOC;
	entries.obstacle[HI_FN_CALLOC] = ENTRY_UNMOVABLE;
	CHECK_STR(
		hooked_describe(&allocators, &entries, 0, text),
		"glibc in /lib/li?bc.so.6: 1 function at its entry, 1 that leads there; by slots: "
		"calloc (its first instruction cannot be executed elsewhere)");
	entries.entry[HI_FUNCTION_COUNT + HI_FN_MALLOC].at = 1;
	entries.obstacle[HI_FUNCTION_COUNT + HI_FN_FREE] = ENTRY_REGISTERS;
	CHECK_STR(hooked_describe(&allocators, &entries, 1, text),
		  "unknown as some_malloc in the program itself, /some/program: 1 function at its "
		  "entry; not hooked: some_free (its callers may count on registers that it leaves "
		  "alone)");
}

UNIT_TEST(an_allocator_that_is_left_alone)
{
	struct allocators allocators = both();
	static struct entries entries;
	char text[HOOKED_TEXT_MAX];

	entries_clear(&entries);
	allocators.allocator[1].original[HI_FN_MALLOC] = 0;
	CHECK_STR(hooked_describe(&allocators, &entries, 1, text),
		  "unknown as some_malloc in the program itself, /some/program: not hooked, as "
		  "nothing else shows what its functions take");
	CHECK_STR(hooked_left_alone(ALLOCATOR_UNKNOWN, "", true),
		  "not hooked, as it may call another one");
}

UNIT_TEST(an_allocator_that_may_have_more_functions)
{
	struct allocators allocators = both();
	static struct entries entries;
	char text[HOOKED_TEXT_MAX];

	entries_clear(&entries);
	allocators.allocator[1].hides_functions = true;
	entries.entry[HI_FUNCTION_COUNT + HI_FN_MALLOC].at = 1;
	entries.entry[HI_FUNCTION_COUNT + HI_FN_FREE].at = 3;
	CHECK_STR(hooked_describe(&allocators, &entries, 1, text),
		  "unknown as some_malloc in the program itself, /some/program: 2 functions at "
		  "their entry; " HOOKED_HIDDEN_TEXT);
}

UNIT_TEST(a_line_is_cut_off_where_its_room_ends)
{
	struct allocators allocators = both();
	static struct entries entries;
	char text[HOOKED_TEXT_MAX];

	entries_clear(&entries);
	for (unsigned i = 0; i < HI_FUNCTION_COUNT; i++) {
		allocators.allocator[1].original[i] = 1;
		entries.obstacle[HI_FUNCTION_COUNT + i] = (enum entry_obstacle)(i % 7);
	}
	CHECK_EQ(strlen(hooked_describe(&allocators, &entries, 1, text)), HOOKED_TEXT_MAX - 1);
}

UNIT_MAIN()
