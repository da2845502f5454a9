/* SPDX-License-Identifier: MIT */
/*
 * owners_print.h - what keeps the blocks of a process, as a table, and as JSON.
 */
#ifndef HI_OWNERS_PRINT_H
#define HI_OWNERS_PRINT_H

#include <stdio.h>
#include <sys/types.h>

#include "owner_name.h"
#include "owner_paths.h"
#include "owner_rows.h"

struct owners_found {
	pid_t pid;
	const char *name; /* of the program */
	const struct used_blocks *blocks;
	struct owner_names names;
	struct owner_rows rows;
	const struct owner_paths *paths; /* NULL: nobody asked for any */
};

void owners_print(const struct owners_found *found, FILE *out);
/* One object on one line; its schema is in heapinject(1). */
void owners_print_json(const struct owners_found *found, FILE *out);

#endif
