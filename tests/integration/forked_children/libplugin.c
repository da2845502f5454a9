/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

__attribute__((noinline)) void *plugin_allocate(size_t size)
{
	char *block = malloc(size);

	return block ? block : NULL; /* no tail call, or the frame would be the caller's */
}
