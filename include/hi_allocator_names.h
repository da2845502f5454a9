/* SPDX-License-Identifier: MIT */
/*
 * hi_allocator_names.h - names that an allocator has when it was built to live beside malloc, where no import leads to it.
 *
 * Header-only, so that injector and analyzer can share it without sharing objects: the one reads the symbol tables of the target's files, the other, which has
 * no privilege, the packed ones.
 */
#ifndef HI_ALLOCATOR_NAMES_H
#define HI_ALLOCATOR_NAMES_H

#include <stddef.h>
#include <string.h>

#define HI_ALLOCATOR_NAME_MAX 64u

/*
 * The length of the prefix that, with "malloc" behind it, is the function that allocates; 0 = this is no such name. jemalloc's prefix is anybody's
 * choice, but no other function is called like its mallocx. Names of wrappers (xmalloc, zmalloc, g_malloc) are none. Of a file that makes each of a
 * million names as long as itself little is read.
 */
static inline size_t hi_allocator_prefix(const char *name)
{
	static const char *const known[] = {"je_malloc", "_rjem_malloc", "_rjem_je_malloc", "tc_malloc", "mi_malloc", "rpmalloc"};
	static const char mallocx[] = "mallocx", malloc_name[] = "malloc";
	const size_t length = strnlen(name, HI_ALLOCATOR_NAME_MAX), tail = sizeof(mallocx) - 1;

	if (length == HI_ALLOCATOR_NAME_MAX)
		return 0;
	if (length > tail && memcmp(name + length - tail, mallocx, tail) == 0)
		return length - tail;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i]) == 0)
			return length - (sizeof(malloc_name) - 1);
	return 0;
}

#endif
