/* SPDX-License-Identifier: MIT */
/*
 * allocators.h - the functions that stand between an allocator and the code that wanted memory: nobody looks for them.
 *
 * One list for the views and for the files that others read, so that both begin a stack at the same function.
 */
#ifndef HI_ALLOCATORS_H
#define HI_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

/* By its short name. */
bool allocators_has(const char *function);
/* The same as a regular expression that pprof matches against whole names; to be freed. NULL = out of memory. */
char *allocators_pattern(void);

#endif
