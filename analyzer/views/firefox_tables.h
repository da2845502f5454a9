/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.h - the tables of the Firefox Profiler: strings, functions, frames, and the tree
 * of stacks, in columns of JSON. render_firefox.c writes what refers to them.
 */
#ifndef HI_FIREFOX_TABLES_H
#define HI_FIREFOX_TABLES_H

#include <stdio.h>

#include "stack_sums.h"

struct firefox_tables {
	const struct profile *profile;
	struct stack_sums sums; /* by call, root first */
	size_t calls;
	uint32_t *node_of; /* by sum: its stack in the table of stacks, once that is written */
	uint32_t *path;    /* private */
};

/* 0 or -ENOMEM. The profile must outlive the tables. */
int firefox_tables_open(struct firefox_tables *tables, const struct profile *profile);
void firefox_tables_close(struct firefox_tables *tables);
/* Write members of an object, each with a comma after it. */
void firefox_tables_strings(const struct firefox_tables *tables, FILE *out);
void firefox_tables_rest(struct firefox_tables *tables, FILE *out);
/* A column whose elements are all alike. */
void firefox_constant(const char *name, const char *value, size_t count, FILE *out);

#endif
