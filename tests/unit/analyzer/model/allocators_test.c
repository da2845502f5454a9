/* SPDX-License-Identifier: MIT */
/* allocators_test.c - the list, and that the expression for pprof says the same. */
#include "unit.h"

#include "allocators.h"
#include "pattern.h"

UNIT_TEST(list_and_expression_agree)
{
	static const struct {
		const char *name;
		bool is_allocator;
	} cases[] = {
		{"operator new", true},
		{"operator new[]", true},
		{"operator new[", false},
		{"operator delete", false},
		{"std::allocator_traits::allocate", true},
		{"std::_Deque_base::_M_allocate_node", true},
		{"std::_Vector_base::_M_allocate", true},
		{"my::std::_Vector_base::_M_allocate", false},
		{"std::vector::push_back", false},
		{"alloc::alloc::exchange_malloc", true},
		{"<alloc::alloc::Global as core::alloc::Allocator>::allocate", true},
		{"zmalloc", false},
		{"malloc", false},
		{"", false},
	};
	char complaint[PATTERN_COMPLAINT_MAX], whole[4096], *expression = allocators_pattern();
	struct pattern pattern;

	CHECK(expression);
	snprintf(whole, sizeof(whole), "^(%s)$", expression); /* as pprof does */
	CHECK_EQ(pattern_open(&pattern, whole, complaint), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(allocators_has(cases[i].name), cases[i].is_allocator);
		CHECK_EQ(pattern_matches(&pattern, cases[i].name), cases[i].is_allocator);
	}
	pattern_close(&pattern);
	free(expression);
}

UNIT_MAIN()
