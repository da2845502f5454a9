/* SPDX-License-Identifier: MIT */
/*
 * What a program loads late: one function that allocates, and a copy of an allocator's address in
 * its own data.
 */
#include <stdlib.h>

void *plugin_allocate(size_t size);
void plugin_release(void *block);

static void (*release)(void *block) = free;

void *plugin_allocate(size_t size)
{
	char *volatile block = malloc(size);

	block[0] = 'p';
	return block;
}

void plugin_release(void *block)
{
	release(block);
}
