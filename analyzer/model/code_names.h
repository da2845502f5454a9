/* SPDX-License-Identifier: MIT */
/*
 * code_names.h - names of code that is in no file, as the record stream has them (CODE records).
 *
 * Sorted ranges that never overlap: a new one replaces those that it overlaps, as the code that was
 * there is gone. Zero-initialized = empty.
 */
#ifndef HI_CODE_NAMES_H
#define HI_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct code_name {
	uint64_t lo, hi;
	char *name; /* owned */
};
struct code_names {
	struct code_name *range;
	size_t count, capacity;
};

/* Copies the name. 0, -ENOMEM, -EINVAL for a range that is none, or -ENOSPC: there are too many. */
int code_names_add(struct code_names *names, uint64_t lo, uint64_t hi, const char *name);
/* NULL: the address has none. */
const char *code_names_find(const struct code_names *names, uint64_t address);
void code_names_close(struct code_names *names);

#endif
