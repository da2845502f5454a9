/* SPDX-License-Identifier: MIT */
/* What a program loads late, and may unload again. */
#include <stdlib.h>

void *plugin_allocate(size_t size);

void *plugin_allocate(size_t size)
{
	char *volatile block = malloc(size);

	block[0] = 'p';
	return block;
}
