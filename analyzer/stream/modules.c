/* SPDX-License-Identifier: MIT */
/*
 * modules.c - a sorted array; modules come seldom and are looked up often. Start at modules_find().
 */
#include "modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* The first range that ends above the address. */
static size_t modules_above(const struct modules *modules, uint64_t address)
{
	size_t low = 0, high = modules->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->range[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int modules_add(struct modules *modules, const struct module_range *range)
{
	size_t at = modules_above(modules, range->lo), end = at;

	if (modules->count >= MODULES_MAX)
		return -ENOSPC;
	if (array_reserve(&modules->range, &modules->capacity, modules->count,
			  sizeof(*modules->range)))
		return -ENOMEM;
	while (end < modules->count && modules->range[end].lo < range->hi)
		end++;
	memmove(&modules->range[at + 1], &modules->range[end],
		(modules->count - end) * sizeof(*modules->range));
	modules->range[at] = *range;
	modules->count = modules->count - (end - at) + 1;
	return 0;
}

void modules_remove(struct modules *modules, uint32_t number)
{
	size_t kept = 0;

	for (size_t i = 0; i < modules->count; i++) {
		if (modules->range[i].number != number)
			modules->range[kept++] = modules->range[i];
	}
	modules->count = kept;
}

int32_t modules_find(const struct modules *modules, uint64_t address, bool may_change)
{
	size_t at = modules_above(modules, address);

	return at < modules->count && modules->range[at].lo <= address &&
			       (may_change || modules->range[at].stays)
		       ? (int32_t)modules->range[at].index
		       : -1;
}

void modules_close(struct modules *modules)
{
	free(modules->range);
	*modules = (struct modules){0};
}
