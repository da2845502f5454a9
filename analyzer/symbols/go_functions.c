/* SPDX-License-Identifier: MIT */
/* go_functions.c - see go_functions.h. */
#include "go_functions.h"

const char *go_functions_find(const struct hi_go_table *table, uint64_t address,
			      uint64_t *out_begin, uint64_t *out_end)
{
	uint64_t low = 0, high = table->count;
	struct hi_go_function function;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (!hi_go_function_at(table, middle, &function))
			return NULL;
		if (function.hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == table->count || !hi_go_function_at(table, low, &function) ||
	    address < function.lo || address >= function.hi || !*function.name)
		return NULL;
	*out_begin = function.lo;
	*out_end = function.hi;
	return function.name;
}
