/* SPDX-License-Identifier: MIT */
/*
 * census_print.h - a census as a table, and as JSON.
 */
#ifndef HI_CENSUS_PRINT_H
#define HI_CENSUS_PRINT_H

#include <stdio.h>
#include <sys/types.h>

#include "census_growth.h"
#include "referrer_rows.h"
#include "stack_rows.h"

struct counted {
	pid_t pid;
	const char *name; /* of the program */
	const struct used_blocks *blocks;
	const struct census *now;
	const struct census_growth *growth; /* not of pins_print() */
	double look_seconds;                /* that a look takes */
	const struct stack_rows *stacks;
	const struct referrer_rows *referrers;
	char *const *type; /* readable, by number */
	bool show_data;    /* also what is in strings */
	size_t rows;       /* at most; 0 = all */
};

void census_print(const struct counted *counted, FILE *out);
/* One object on one line; its schema is in heapinject(1). */
void census_print_json(const struct counted *counted, FILE *out);

#endif
