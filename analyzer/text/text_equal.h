/* SPDX-License-Identifier: MIT */
/* text_equal.h - compares strings that may be missing. */
#ifndef HI_TEXT_EQUAL_H
#define HI_TEXT_EQUAL_H

#include <stdbool.h>
#include <string.h>

/* True if both strings are the same, or both are missing (NULL); "" is not missing. */
static inline bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

#endif
