/* SPDX-License-Identifier: MIT */
/* hook_table.c - see hook_table.h. */
#include "hook_table.h"

#include <string.h>

#define KIND(kind, gate, plain) GATE_OF_##kind = GATE_##gate, PLAIN_OF_##kind = HI_FN_##plain,
enum { HI_HOOK_KINDS(KIND) };

enum { IN_ANY, IN_ALLOCATOR, IN_PREFIXED, IN_MAPPING, IN_NAMED };

const struct hook hook_table[HI_FUNCTION_COUNT] = {
#define ROW(number, id, hook, symbol, kind, where, nesting, nothrow) \
	[number] = {symbol,                                          \
		    #hook,                                           \
		    (enum gate_class)GATE_OF_##kind,                 \
		    IN_##where != IN_ANY,                            \
		    IN_##where >= IN_PREFIXED,                       \
		    IN_##where == IN_MAPPING,                        \
		    IN_##where == IN_NAMED,                          \
		    HOOK_NESTING_##nesting,                          \
		    (enum hi_function)PLAIN_OF_##kind,               \
		    HI_FN_##nothrow},
	HI_HOOKS(ROW)};

/* gperftools' tc_new..., mimalloc's mi_new... */
static const struct {
	const char *name;
	enum hi_function function;
} operators[] = {
	{"new", HI_FN_NEW},
	{"newarray", HI_FN_NEW_ARRAY},
	{"new_nothrow", HI_FN_NEW_NOTHROW},
	{"newarray_nothrow", HI_FN_NEW_ARRAY_NOTHROW},
	{"new_aligned", HI_FN_NEW_ALIGNED},
	{"newarray_aligned", HI_FN_NEW_ARRAY_ALIGNED},
	{"new_aligned_nothrow", HI_FN_NEW_ALIGNED_NOTHROW},
	{"newarray_aligned_nothrow", HI_FN_NEW_ARRAY_ALIGNED_NOTHROW},
	{"delete", HI_FN_DELETE},
	{"deletearray", HI_FN_DELETE_ARRAY},
	{"delete_nothrow", HI_FN_DELETE_NOTHROW},
	{"deletearray_nothrow", HI_FN_DELETE_ARRAY_NOTHROW},
	{"delete_sized", HI_FN_DELETE_SIZED},
	{"deletearray_sized", HI_FN_DELETE_ARRAY_SIZED},
	{"delete_aligned", HI_FN_DELETE_ALIGNED},
	{"deletearray_aligned", HI_FN_DELETE_ARRAY_ALIGNED},
	{"delete_aligned_nothrow", HI_FN_DELETE_ALIGNED_NOTHROW},
	{"deletearray_aligned_nothrow", HI_FN_DELETE_ARRAY_ALIGNED_NOTHROW},
	{"delete_sized_aligned", HI_FN_DELETE_SIZED_ALIGNED},
	{"deletearray_sized_aligned", HI_FN_DELETE_ARRAY_SIZED_ALIGNED},
};
#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

static enum hi_function function_of(const char *symbol, bool is_prefixed)
{
	unsigned function = 0;

	while (function < HI_FUNCTION_COUNT &&
	       (symbol[0] != hook_table[function].symbol[0] ||
		(hook_table[function].prefixed_only && !is_prefixed) ||
		hook_table[function].is_mapping || hook_table[function].is_named ||
		strcmp(symbol, hook_table[function].symbol) != 0))
		function++;
	return (enum hi_function)function;
}

enum hi_function hook_function_of(const char *symbol)
{
	return function_of(symbol, false);
}

enum hi_function hook_prefixed_function_of(const char *name)
{
	for (size_t i = 0; i < OPERATORS; i++)
		if (strcmp(name, operators[i].name) == 0)
			return operators[i].function;
	return function_of(name, true);
}

const char *hook_name_after(const char *prefix, enum hi_function function)
{
	for (size_t i = 0; i < OPERATORS && *prefix; i++)
		if (operators[i].function == function)
			return operators[i].name;
	return hook_table[function].symbol;
}
