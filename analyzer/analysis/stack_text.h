/* SPDX-License-Identifier: MIT */
/*
 * stack_text.h - stacks as text for the user: which stacks read the same, and each stack on a line.
 *
 * Two stacks read the same if they go through the same functions at the same lines. Where a line is
 * unknown, the addresses must be the same.
 */
#ifndef HI_STACK_TEXT_H
#define HI_STACK_TEXT_H

#include <stdio.h>

#include "functions.h"

struct stack_text {
	const struct profile *profile;
	struct functions functions;
	uint64_t *name_hash; /* by function */
};

/* 0 or -ENOMEM. Close it in either case. */
int stack_text_open(const struct profile *profile, struct stack_text *out_text);
void stack_text_close(struct stack_text *text);
/* A hash that is equal for stacks that read the same, also across profiles. */
uint64_t stack_text_hash(const struct stack_text *text, uint32_t stack);
/* Prints "leaf file.c:12 < caller < ... < outermost", shortened to a few names. */
void stack_text_print(const struct stack_text *text, uint32_t stack, FILE *out);
/* Prints all calls, each on a line of its own that begins with `before`. */
void stack_text_print_all(const struct stack_text *text, uint32_t stack, const char *before,
			  FILE *out);

/* The groups of stacks that read the same, dense from 0. */
struct stack_groups {
	uint32_t *group_of; /* by stack */
	uint32_t *stack;    /* by group: its first stack */
	size_t count;
	uint32_t *row;     /* indices of the profile's rows; the rows of a group are adjacent */
	size_t *first_row; /* by group: its first index in row[]; the next group's is its end */
};
/* 0 or -ENOMEM. Close it in either case. */
int stack_groups_open(const struct stack_text *text, struct stack_groups *out_groups);
void stack_groups_close(struct stack_groups *groups);

#endif
