/* SPDX-License-Identifier: MIT */
/*
 * stack_sums.h - what each distinct stack of a profile holds, of all sample types: what the formats that list stacks count by.
 *
 * Stacks that read the same are one, whether they differed in block sizes, addresses or sampling intervals. What "the same" is the format says: by function, as
 * the other views tell functions apart; or by call, a place in the code.
 */
#ifndef HI_STACK_SUMS_H
#define HI_STACK_SUMS_H

#include "estimate.h"
#include "functions.h"

enum stack_steps { STEPS_BY_FUNCTION, STEPS_BY_CALL };
enum stack_order { STEPS_ROOT_FIRST, STEPS_LEAF_FIRST };

struct stack_sum {
	const uint32_t *step; /* indices into functions.name[] or functions.call[] */
	size_t count;         /* 0: nothing of this stack is known */
	double value[SAMPLE_TYPE_COUNT];
	double base[SAMPLE_TYPE_COUNT]; /* as in struct estimate: value is the difference, value + base the new side */
	double slack;                   /* usable bytes beyond those requested, of what is in use */
	double lived_ns;                /* sum of the lifetimes of what was freed and of the ages of what was not, as far as known */
};
struct stack_sums {
	struct functions functions;
	const char **file;     /* by function: of the first of its calls that says one; else NULL */
	struct stack_sum *sum; /* in the order of their steps, so that stacks with the same beginning are neighbours */
	size_t count;
	uint32_t *group_of; /* by stack of the profile: index into sum[] */
	uint32_t *steps;    /* private */
};

/* 0 or -ENOMEM. The profile must outlive it. */
int stack_sums_open(const struct profile *profile, enum stack_steps by, enum stack_order order, struct stack_sums *out_sums);
void stack_sums_close(struct stack_sums *sums);

#endif
