/* SPDX-License-Identifier: MIT */
/*
 * hi_allocator_names.h - names of the functions of an allocator that was built to coexist with
 * malloc. No import leads to such an allocator.
 * The injector finds them in the symbol tables of the target's files, and of the debug files of
 * those that are stripped.
 */
#ifndef HI_ALLOCATOR_NAMES_H
#define HI_ALLOCATOR_NAMES_H

#include <stddef.h>
#include <string.h>

#define HI_ALLOCATOR_NAME_MAX 64u

/*
 * If the name belongs to such an allocator, the length of its prefix; 0 = it does not. The prefix
 * followed by "malloc" is the name of the function that allocates. jemalloc's prefix can be chosen
 * freely, but no other function has a name that ends in mallctl. Names of wrappers (xmalloc,
 * zmalloc, g_malloc) do not count. At most HI_ALLOCATOR_NAME_MAX bytes of a name are read, in case
 * a file makes each of a million names as long as the file itself.
 */
static inline size_t hi_allocator_prefix(const char *name)
{
	static const char *const known[] = {"je_malloc", "_rjem_malloc", "_rjem_je_malloc",
					    "tc_malloc", "mi_malloc",    "rpmalloc"};
	static const char mallctl[] = "mallctl", malloc_name[] = "malloc";
	const size_t length = strnlen(name, HI_ALLOCATOR_NAME_MAX), tail = sizeof(mallctl) - 1;

	if (length == HI_ALLOCATOR_NAME_MAX)
		return 0;
	if (length > tail && memcmp(name + length - tail, mallctl, tail) == 0)
		return length - tail;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i]) == 0)
			return length - (sizeof(malloc_name) - 1);
	return 0;
}

#endif
