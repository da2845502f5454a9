/* SPDX-License-Identifier: MIT */
/* Comes with libown.so, and imports one function of an allocator. */
#include <stdlib.h>

void releases(void *block);

void releases(void *block)
{
	free(block);
}
