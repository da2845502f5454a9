/* SPDX-License-Identifier: MIT */
/* A library like most. What malloc is to it depends on how it is loaded. */
#include <stdlib.h>
#include <string.h>

void *allocate(size_t size);

__attribute__((noinline)) void *allocate(size_t size)
{
	char *volatile block = malloc(size);

	if (block)
		memset(block, 1, size);
	return block;
}
