/* SPDX-License-Identifier: MIT */
/*
 * explain_print.h - what a process's memory consists of, as a table, and as JSON.
 */
#ifndef HI_EXPLAIN_PRINT_H
#define HI_EXPLAIN_PRINT_H

#include <stdio.h>

#include "verdict.h"

struct explained {
	pid_t pid;
	const char *name; /* of the program */
	struct verdict_facts seen;
	struct verdict verdict;
};

void explain_print(const struct explained *explained, FILE *out);
/* One object on one line; its schema is in heapinject(1). */
void explain_print_json(const struct explained *explained, FILE *out);

#endif
