/* SPDX-License-Identifier: MIT */
/*
 * leaks_print.h - blocks that leaked, as a table, and as JSON.
 */
#ifndef HI_LEAKS_PRINT_H
#define HI_LEAKS_PRINT_H

#include <stdio.h>
#include <sys/types.h>

#include "leaked_blocks.h"
#include "stack_rows.h"

struct leaks_found {
	pid_t pid;
	const char *name; /* of the program */
	const struct used_blocks *blocks;
	const struct census *census; /* of leaked_blocks_count */
	const struct stack_rows *stacks;
	char *const *type; /* readable, by number */
	double seconds;    /* from the first look to the last */
	unsigned looks;
	bool is_unsettled; /* leak_looks_are_unsettled() */
	bool show_data;
	size_t rows; /* at most; 0 = all */
};

/* False: the blocks could not be looked at, so that nothing is said of leaks. */
bool leaks_can_tell(const struct leaks_found *found);
void leaks_print(const struct leaks_found *found, FILE *out);
/* One object on one line; its schema is in heapinject(1). */
void leaks_print_json(const struct leaks_found *found, FILE *out);

#endif
