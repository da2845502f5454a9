/* SPDX-License-Identifier: MIT */
/* trial_allocators.c - see trial_allocators.h. The packages are those of Debian. */
#include "trial_allocators.h"

#include <string.h>
#include <unistd.h>

static const struct allocator known[] = {
	{"glibc, 1 arena", "glibc", {NULL}, "MALLOC_ARENA_MAX=1", NULL, "libc"},
	{"glibc, 2 arenas", "glibc", {NULL}, "MALLOC_ARENA_MAX=2", NULL, "libc"},
	{"glibc, 8 arenas", "glibc", {NULL}, "MALLOC_ARENA_MAX=8", NULL, "libc"},
	{"jemalloc",
	 "jemalloc",
	 {"libjemalloc.so.2", "libjemalloc.so.1"},
	 NULL,
	 "libjemalloc2",
	 "libjemalloc"},
	{"tcmalloc",
	 "tcmalloc",
	 {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
	 NULL,
	 "libtcmalloc-minimal4",
	 "libtcmalloc"},
	{"mimalloc",
	 "mimalloc",
	 {"libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3"},
	 NULL,
	 "libmimalloc2.0",
	 "libmimalloc"},
};
#define KNOWN (sizeof(known) / sizeof(*known))

void trial_allocators_add_all(struct allocators *allocators)
{
	for (size_t i = 0; i < KNOWN && allocators->count < ALLOCATORS_MAX; i++)
		allocators->one[allocators->count++] = known[i];
}

static const char *add_library(struct allocators *allocators, const char *path)
{
	const char *const name = strrchr(path, '/') + 1;

	/* it separates libraries there */
	if (strpbrk(path, " :"))
		return "the path of a library to preload has neither spaces nor colons";
	if (access(path, R_OK))
		return "no such library that can be read";
	allocators->one[allocators->count++] =
		(struct allocator){.name = name, .key = path, .preload = {path}, .soname = name};
	return NULL;
}

const char *trial_allocators_add(struct allocators *allocators, const char *text)
{
	const size_t before = allocators->count;

	if (before + KNOWN > ALLOCATORS_MAX)
		return "one --allocator too many";
	if (strchr(text, '/'))
		return add_library(allocators, text);
	for (size_t i = 0; i < KNOWN; i++)
		if (!strcmp(known[i].key, text))
			allocators->one[allocators->count++] = known[i];
	return allocators->count > before
		       ? NULL
		       : "not an allocator (glibc, jemalloc, tcmalloc, mimalloc, or the path of a "
			 "library)";
}
