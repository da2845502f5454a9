/* SPDX-License-Identifier: MIT */
/* code_names.c - see code_names.h. */
#include "code_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define NAMES_MAX 262144u /* a JVM has no more code than that */

/* The first range that ends above the address. */
static size_t range_above(const struct code_names *names, uint64_t address)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (names->range[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int code_names_add(struct code_names *names, uint64_t lo, uint64_t hi, const char *name)
{
	const size_t at = range_above(names, lo);
	size_t end = at;

	if (lo >= hi)
		return -EINVAL;
	if (names->count >= NAMES_MAX)
		return -ENOSPC;
	if (array_reserve(&names->range, &names->capacity, names->count, sizeof(*names->range)))
		return -ENOMEM;
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	for (; end < names->count && names->range[end].lo < hi; end++)
		free(names->range[end].name);
	memmove(&names->range[at + 1], &names->range[end],
		(names->count - end) * sizeof(*names->range));
	names->range[at] = (struct code_name){lo, hi, copy};
	names->count = names->count - (end - at) + 1;
	return 0;
}

const char *code_names_find(const struct code_names *names, uint64_t address)
{
	const size_t at = range_above(names, address);

	return at < names->count && names->range[at].lo <= address ? names->range[at].name : NULL;
}

void code_names_close(struct code_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->range[i].name);
	free(names->range);
	*names = (struct code_names){0};
}
