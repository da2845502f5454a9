/* SPDX-License-Identifier: MIT */
/* trial_allocators.h - the allocators that a recording is tried with. */
#ifndef HI_TRIAL_ALLOCATORS_H
#define HI_TRIAL_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#define ALLOCATORS_LIBRARIES_MAX 3u
#define ALLOCATORS_MAX 16u

struct allocator {
	const char *name; /* as it is shown */
	const char *key;  /* as --allocator has it, of several rows, too */
	/*
	 * what is preloaded: the first that the dynamic linker finds. None: libc's own malloc.
	 */
	const char *preload[ALLOCATORS_LIBRARIES_MAX + 1];
	const char *setting; /* NAME=VALUE of its environment; NULL = none */
	const char *package; /* of Debian; NULL = it is none of those that are known */
	const char *soname;  /* how the name of its file begins */
};

struct allocators {
	struct allocator one[ALLOCATORS_MAX];
	size_t count;
};

/* Adds all that are known. */
void trial_allocators_add_all(struct allocators *allocators);
/*
 * Adds those of this name, or a library by its path, which has a slash; the text must stay. NULL,
 * or what is wrong with it.
 */
const char *trial_allocators_add(struct allocators *allocators, const char *text);

#endif
