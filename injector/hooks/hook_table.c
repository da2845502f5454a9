/* SPDX-License-Identifier: MIT */
/* hook_table.c - see hook_table.h. */
#include "hook_table.h"

#include <string.h>

#define KIND(kind, gate, plain) GATE_OF_##kind = GATE_##gate, PLAIN_OF_##kind = HI_FN_##plain,
enum { HI_HOOK_KINDS(KIND) };

enum { IN_ANY = false, IN_ALLOCATOR = true };

const struct hook hook_table[HI_FUNCTION_COUNT] = {
#define ROW(number, id, hook, symbol, kind, where, nesting, nothrow) \
	[number] = {symbol,                                          \
		    #hook,                                           \
		    (enum gate_class)GATE_OF_##kind,                 \
		    IN_##where,                                      \
		    HOOK_NESTING_##nesting,                          \
		    (enum hi_function)PLAIN_OF_##kind,               \
		    HI_FN_##nothrow},
	HI_HOOKS(ROW)};

enum hi_function hook_function_of(const char *symbol)
{
	unsigned function = 0;

	while (function < HI_FUNCTION_COUNT && (symbol[0] != hook_table[function].symbol[0] ||
						strcmp(symbol, hook_table[function].symbol) != 0))
		function++;
	return (enum hi_function)function;
}
