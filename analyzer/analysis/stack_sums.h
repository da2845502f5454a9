/* SPDX-License-Identifier: MIT */
/*
 * stack_sums.h - what each distinct stack of a profile holds, for all sample types.
 *
 * The formats that list stacks use it. Stacks with equal steps are one, even if they differ in
 * block sizes, addresses or sampling intervals. The caller chooses what a step is: a function, as
 * the other views tell functions apart, or a call, which is a place in the code.
 */
#ifndef HI_STACK_SUMS_H
#define HI_STACK_SUMS_H

#include "estimate.h"
#include "functions.h"

enum stack_steps { STEPS_BY_FUNCTION, STEPS_BY_CALL };
enum stack_order { STEPS_ROOT_FIRST, STEPS_LEAF_FIRST };

struct stack_sum {
	const uint32_t *step; /* indices into functions.name[] or functions.call[] */
	size_t count;         /* 0: the stack is unknown */
	double value[SAMPLE_TYPE_COUNT];
	/*
	 * as in struct estimate: value is new side minus base side, so value + base is the new side
	 */
	double base[SAMPLE_TYPE_COUNT];
	double slack; /* usable bytes beyond those requested, of blocks in use */
	/* lifetimes of the freed blocks plus ages of the blocks in use, as far as known */
	double lived_ns;
};
struct stack_sums {
	struct functions functions;
	/* by function: the source file of the first of its calls that has one; else NULL */
	const char **file;
	/* sorted by their steps, so that stacks with the same beginning are neighbours */
	struct stack_sum *sum;
	size_t count;
	uint32_t *group_of; /* by stack of the profile: index into sum[] */
	uint32_t *steps;    /* private */
};

/* Returns 0 or -ENOMEM. The profile must outlive the result. */
int stack_sums_open(const struct profile *profile, enum stack_steps by, enum stack_order order,
		    struct stack_sums *out_sums);
/* The same without the figures, for a caller that has its own. */
int stack_sums_open_empty(const struct profile *profile, enum stack_steps by,
			  enum stack_order order, struct stack_sums *out_sums);
void stack_sums_close(struct stack_sums *sums);

#endif
