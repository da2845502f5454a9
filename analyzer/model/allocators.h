/* SPDX-License-Identifier: MIT */
/*
 * allocators.h - the functions between an allocator and the code that asked for memory. The views
 * leave them out at the leaf of a stack.
 *
 * The views and the writers of other tools' formats share this one list, so that both begin a stack
 * at the same function.
 */
#ifndef HI_ALLOCATORS_H
#define HI_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the list holds the function, by its short name. */
bool allocators_has(const char *function);
/*
 * The list as one regular expression, which pprof matches against whole names. The caller frees it.
 * NULL = out of memory.
 */
char *allocators_pattern(void);

#endif
