/* SPDX-License-Identifier: MIT */
/* A library like most: it uses the allocator of the program. */
#include <stdlib.h>

void *plain_allocate(size_t size);
void plain_release(void *block);

void *plain_allocate(size_t size)
{
	return malloc(size);
}

void plain_release(void *block)
{
	free(block);
}
