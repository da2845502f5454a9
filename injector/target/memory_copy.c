/* SPDX-License-Identifier: MIT */
/* memory_copy.c - see memory_copy.h. */
#include "memory_copy.h"

const struct copied_run *memory_copy_find(const struct memory_copy *copy, uint64_t address)
{
	size_t low = 0, high = copy->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (copy->run[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < copy->count ? &copy->run[low] : NULL;
}
