/* SPDX-License-Identifier: MIT */
/*
 * stack_rows.h - by which stacks the blocks of each group of a census were allocated, as far as a
 * session has sampled them.
 */
#ifndef HI_STACK_ROWS_H
#define HI_STACK_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "known_stacks.h"
#include "mark.h"

/* Blocks of one group and one stack that were sampled. */
struct stack_row {
	uint32_t group, stack;
	uint64_t count;
};

/* Zero-initialized: nothing is known. */
struct stack_rows {
	const struct known_stacks *stacks; /* the caller's */
	struct stack_row *row;             /* by group, of each the most frequent stack first */
	size_t count;
	uint64_t sampled; /* blocks, of all groups */
};

/* block: by address. group: by block. 0 or -ENOMEM. Close it in either case. */
int stack_rows_find(const struct known_stacks *stacks, const struct mark_block *block, size_t count,
		    const uint32_t *group, struct stack_rows *out_rows);
void stack_rows_close(struct stack_rows *rows);

/* Lines below the row of the group: its first stacks, and how many of its blocks were sampled. */
void stack_rows_print(const struct stack_rows *rows, size_t group, FILE *out);
/* The members sampled and stacks of a JSON object, after a comma; none if nothing is known. */
void stack_rows_print_json(const struct stack_rows *rows, size_t group, FILE *out);
/* A line on what these stacks are. */
void stack_rows_note(const struct stack_rows *rows, uint64_t blocks, FILE *out);

#endif
