/* SPDX-License-Identifier: MIT */
/*
 * hi_allocator_names.h - names of the functions of an allocator that was built to coexist with
 * malloc. No import leads to such an allocator.
 * The injector finds them in the symbol tables of the target's files, and of the debug files of
 * those that are stripped.
 */
#ifndef HI_ALLOCATOR_NAMES_H
#define HI_ALLOCATOR_NAMES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HI_ALLOCATOR_NAME_MAX 64u
#define HI_PREFIX_MAX 32u
#define HI_PREFIXES_MAX 8u
#define HI_DPDK_PREFIX "rte_" /* its functions take other arguments, and are only named */

/* Prefixes that the user names, as my_ where the functions are my_malloc, my_free, ... */
struct hi_prefixes {
	char prefix[HI_PREFIXES_MAX][HI_PREFIX_MAX];
	size_t count;
};

/*
 * Adds one, unless it is there. -EINVAL: no name begins like that; -E2BIG: there are too many;
 * -ENOTSUP: functions with this prefix are known to take other arguments.
 */
static inline int hi_prefixes_add(struct hi_prefixes *prefixes, const char *text)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
			  digits[] = "0123456789";
	const size_t length = strnlen(text, HI_PREFIX_MAX);

	if (!length || length == HI_PREFIX_MAX || !strchr(first, text[0]))
		return -EINVAL;
	for (size_t i = 0; i < length; i++)
		if (!strchr(first, text[i]) && !strchr(digits, text[i]))
			return -EINVAL;
	if (strcmp(text, HI_DPDK_PREFIX) == 0)
		return -ENOTSUP;
	for (size_t i = 0; i < prefixes->count; i++)
		if (strcmp(prefixes->prefix[i], text) == 0)
			return 0;
	if (prefixes->count == HI_PREFIXES_MAX)
		return -E2BIG;
	memcpy(prefixes->prefix[prefixes->count++], text, length + 1);
	return 0;
}

/*
 * Length of the name of the function of which the compiler made this one: je_calloc of
 * je_calloc.constprop.0. Callers that were compiled together with it, or linked with link-time
 * optimization, call the copy. 0: it is none. A .cold part is no function of its own, and a
 * .localalias is the function itself.
 */
static inline size_t hi_copied_name(const char *name)
{
	static const char *const made[] = {".constprop.", ".isra.", ".part.", ".lto_priv.",
					   ".llvm."};
	char text[2 * HI_ALLOCATOR_NAME_MAX];
	const size_t length = strnlen(name, sizeof(text));
	const char *dot;

	if (length == sizeof(text) || !memchr(name, '.', length))
		return 0;
	memcpy(text, name, length + 1);
	dot = strchr(text, '.');
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]) && !strstr(dot, ".cold"); i++)
		if (strncmp(dot, made[i], strlen(made[i])) == 0)
			return (size_t)(dot - text);
	return 0;
}

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
