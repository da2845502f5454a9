/* SPDX-License-Identifier: MIT */
/*
 * libplugin.c - a shared object that dlopen_storm copies under several names: it allocates through
 * slots of its own, in its constructor too.
 */
#include <stdlib.h>
#include <string.h>

void *plugin_allocate(size_t size);
void plugin_release(void *block);

static char *first;

__attribute__((constructor)) static void begin(void)
{
	first = malloc(200);
	memset(first, 0x5a, 200);
}

__attribute__((destructor)) static void end(void)
{
	for (int i = 0; i < 200; i++)
		if (first[i] != 0x5a)
			abort();
	free(first);
}

void *plugin_allocate(size_t size)
{
	return malloc(size);
}

void plugin_release(void *block)
{
	free(block);
}
