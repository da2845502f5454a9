/* SPDX-License-Identifier: MIT */
/* hook_table_test.c - is each row of HI_HOOKS complete, and does it fit what it refers to? */
#include "hook_table.h"

#include <strings.h>

#include "unit.h"

#define THROWING "_Zn"
#define ALIGNED "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"

static const char *const ids[] = {
#define ID(number, id, ...) [number] = #id,
	HI_HOOKS(ID)};

static bool is_throwing(const struct hook *hook)
{
	return strncmp(hook->symbol, THROWING, strlen(THROWING)) == 0 &&
	       !strstr(hook->symbol, NOTHROW);
}

UNIT_TEST(every_row_has_names_of_its_own)
{
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++) {
		const bool is_named = hook_table[i].is_named; /* by the user */

		CHECK(hook_table[i].symbol && is_named == !hook_table[i].symbol[0]);
		CHECK(strcasecmp(hook_table[i].name, ids[i]) == 0);
		CHECK(strpbrk(hook_table[i].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL);
		for (size_t k = 0; k < i; k++) {
			CHECK(is_named || strcmp(hook_table[i].symbol, hook_table[k].symbol) != 0);
			CHECK(strcmp(hook_table[i].name, hook_table[k].name) != 0);
		}
	}
}

/* Of mimalloc's functions that throw. */
static enum hi_function plain_of(enum hi_function function)
{
	switch (function) {
	case HI_FN_NEW_N:
		return HI_FN_MALLOCN;
	case HI_FN_HEAP_ALLOC_NEW:
		return HI_FN_HEAP_MALLOC;
	case HI_FN_HEAP_ALLOC_NEW_N:
		return HI_FN_HEAP_MALLOCN;
	case HI_FN_NEW_REALLOC:
		return HI_FN_REALLOC;
	case HI_FN_NEW_REALLOCN:
		return HI_FN_REALLOCN;
	default:
		return HI_FN_NONE;
	}
}

UNIT_TEST(an_operator_that_throws_has_functions_that_do_not)
{
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++) {
		const struct hook *hook = &hook_table[i];
		char twin[64];

		if (!is_throwing(hook)) {
			CHECK_EQ(hook->nothrow, HI_FN_NONE);
			CHECK_EQ(hook->plain, plain_of((enum hi_function)i));
			continue;
		}
		CHECK(hook->nothrow != HI_FN_NONE);
		snprintf(twin, sizeof(twin), "%s" NOTHROW, hook->symbol);
		CHECK(strcmp(hook_table[hook->nothrow].symbol, twin) == 0);
		CHECK_EQ(hook_table[hook->nothrow].gate, hook->gate);
		CHECK_EQ(hook_table[hook->nothrow].allocator_only, hook->allocator_only);
		CHECK_EQ(hook->plain,
			 strstr(hook->symbol, ALIGNED) ? HI_FN_MEMALIGN : HI_FN_MALLOC);
	}
}

UNIT_TEST(operators_are_hooked_in_the_allocator_only)
{
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++)
		CHECK(strncmp(hook_table[i].symbol, "_Z", 2) != 0 || hook_table[i].allocator_only);
}

/* Nor does a function that maps allocate, and what is in one of a pool is not nested. */
UNIT_TEST(what_frees_and_nothing_else_cannot_nest)
{
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++)
		CHECK_EQ(hook_table[i].gate == GATE_FREE || hook_table[i].is_mapping ||
				 hook_table[i].is_named,
			 hook_table[i].nesting == HOOK_NESTING_NONE);
}

/* Only such a function can be served by GATE_REALLOC_NULL. */
UNIT_TEST(a_block_of_null_is_an_argument_of_realloc_alone)
{
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++)
		CHECK(hook_table[i].nesting != HOOK_NESTING_EXAMINED_NULL ||
		      hook_table[i].gate == GATE_REALLOC);
}

UNIT_TEST(functions_have_the_gate_of_their_kind)
{
	CHECK_EQ(hook_table[HI_FN_MALLOC].gate, GATE_ALLOC);
	CHECK_EQ(hook_table[HI_FN_NEW].gate, GATE_ALLOC);
	CHECK_EQ(hook_table[HI_FN_CALLOC].gate, GATE_SIZE2);
	CHECK_EQ(hook_table[HI_FN_ALIGNED_ALLOC].gate, GATE_SIZEARG2);
	CHECK_EQ(hook_table[HI_FN_POSIX_MEMALIGN].gate, GATE_SIZEARG3);
	CHECK_EQ(hook_table[HI_FN_REALLOC].gate, GATE_REALLOC);
	CHECK_EQ(hook_table[HI_FN_FREE].gate, GATE_FREE);
	CHECK_EQ(hook_table[HI_FN_DELETE_ARRAY_ALIGNED_NOTHROW].gate, GATE_FREE);
	CHECK_EQ(hook_table[HI_FN_DELETE_ARRAY_SIZED_ALIGNED].gate, GATE_FREE);
}

/* New functions come after these. */
UNIT_TEST(numbers_in_recorded_streams_keep_their_meaning)
{
	static const char *const recorded[] = {
		"MALLOC",
		"CALLOC",
		"REALLOC",
		"REALLOCARRAY",
		"FREE",
		"FREE_SIZED",
		"FREE_ALIGNED_SIZED",
		"CFREE",
		"POSIX_MEMALIGN",
		"ALIGNED_ALLOC",
		"MEMALIGN",
		"VALLOC",
		"PVALLOC",
		"MALLOCX",
		"RALLOCX",
		"XALLOCX",
		"DALLOCX",
		"SDALLOCX",
		"NEW",
		"NEW_ARRAY",
		"NEW_NOTHROW",
		"NEW_ARRAY_NOTHROW",
		"NEW_ALIGNED",
		"NEW_ARRAY_ALIGNED",
		"NEW_ALIGNED_NOTHROW",
		"NEW_ARRAY_ALIGNED_NOTHROW",
		"DELETE",
		"DELETE_ARRAY",
		"DELETE_NOTHROW",
		"DELETE_ARRAY_NOTHROW",
		"DELETE_SIZED",
		"DELETE_ARRAY_SIZED",
		"DELETE_ALIGNED",
		"DELETE_ARRAY_ALIGNED",
		"DELETE_ALIGNED_NOTHROW",
		"DELETE_ARRAY_ALIGNED_NOTHROW",
		"DELETE_SIZED_ALIGNED",
		"DELETE_ARRAY_SIZED_ALIGNED",
	};

	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		CHECK(strcmp(ids[i], recorded[i]) == 0);
}

/* tc_new and mi_new, not mi__Znwm. */
UNIT_TEST(operators_have_other_names_after_a_prefix)
{
	CHECK_STR(hook_name_after("mi_", HI_FN_NEW), "new");
	CHECK_STR(hook_name_after("mi_", HI_FN_MALLOC), "malloc");
	CHECK_STR(hook_name_after("", HI_FN_NEW), "_Znwm");
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		CHECK_EQ(hook_prefixed_function_of(
				 hook_name_after("mi_", (enum hi_function)function)),
			 hook_table[function].is_mapping || hook_table[function].is_named
				 ? HI_FN_NONE
				 : function);
}

UNIT_TEST(functions_that_map_are_no_allocators)
{
	CHECK_EQ(hook_function_of("malloc"), HI_FN_MALLOC);
	CHECK_EQ(hook_function_of("mmap"), HI_FN_NONE);
	CHECK_EQ(hook_prefixed_function_of("munmap"), HI_FN_NONE);
	CHECK(hook_table[HI_FN_MREMAP].is_mapping && !hook_table[HI_FN_REALLOC].is_mapping);
}

UNIT_TEST(functions_of_pools_have_no_name_until_the_user_gives_one)
{
	CHECK_EQ(hook_function_of(""), HI_FN_NONE);
	CHECK_EQ(hook_prefixed_function_of(""), HI_FN_NONE);
	for (unsigned i = 0; i < HI_FUNCTION_COUNT; i++)
		CHECK_EQ(hook_table[i].is_named, i >= HI_FN_NAMED_ALLOC_0);
}

UNIT_MAIN()
