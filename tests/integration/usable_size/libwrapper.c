/* SPDX-License-Identifier: MIT */
/*
 * libwrapper - an allocator that is none of those that are known, and that nobody may ask for
 * usable sizes.
 */
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return __libc_realloc(block, size);
}

void free(void *block)
{
	__libc_free(block);
}

size_t malloc_usable_size(void *block)
{
	(void)block;
	abort();
}
