/* SPDX-License-Identifier: MIT */
/* libloaded.c - what loading.c loads: a library that allocates. */
#include <stdlib.h>

void *loaded_allocate(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block) : : "memory"); /* no tail call */
	return block;
}
