/* SPDX-License-Identifier: MIT */
/*
 * answer_groups.h - the groups from which the answer is made, for the files that make it:
 * answer_find.c sums them up and tests them, answer_rest.c looks for what grows only as a whole,
 * answer_compare.c compares with what does not come from samples, answer_rows.c orders them,
 * answer_verdict.c says what they come to,
 * answer_keeper.c, answer_enlarged.c and answer_stopped.c find what a group as such does not show.
 */
#ifndef HI_ANSWER_GROUPS_H
#define HI_ANSWER_GROUPS_H

#include "answer.h"

#define NO_GROUP UINT32_MAX

/*
 * What is in use at the end and older than the tail, by classes of usable sizes, in bytes. Of the
 * rows of a group, or of all.
 */
struct sizes {
	double bytes[HI_SIZE_CLASSES];
};

struct group {
	struct row_trend sum;
	struct sizes sizes;
	struct trend trend;
	bool is_confirmed;     /* by frees */
	bool grows_by_samples; /* whatever the comparison made of it */
	bool is_unshown;       /* as in struct answer_row */
	double live, most;     /* bytes in use; of the stack that holds most */
	uint32_t stack;
	size_t stacks;
	bool is_caller, is_scattered, is_enlarged, is_holder; /* as in struct answer_row */
	double came_ns;
};

/* What is known while an answer is looked for. */
struct finder {
	const struct profile *profile;
	struct answer *answer;
	struct row_trend begin;
	uint32_t *call_of;  /* by stack: the call that a person would look at; NO_CALL */
	uint32_t *group_of; /* by function: index into group[]; NO_GROUP */
	struct group *group;
	size_t group_count, tested;
	double *stack_live;      /* by stack: bytes in use */
	double *stack_allocated; /* bytes allocated */
	double *stack_late; /* of those in use, what came after the first quarter, the warm-up */
	struct sizes sizes; /* of all */
	double fastest;     /* slope of the group that grows fastest; 0 = none does */
	/*
	 * by class: blocks from before the session that were freed meanwhile, in bytes; variance <
	 * 0 = it is not known
	 */
	double old_freed[HI_SIZE_CLASSES], old_variance[HI_SIZE_CLASSES];
	double level;
};

/* The function that a person would look at; their number = the stack has no frames. */
static inline uint32_t answer_function_of(const struct finder *finder, uint32_t stack)
{
	const struct functions *functions = &finder->answer->frames.functions;
	const uint32_t call = finder->call_of[stack];

	return call == NO_CALL ? (uint32_t)functions->count : functions->call[call].function;
}

/* Adds a row, and counts a stack whose rows have been added. */
void answer_group_add_row(struct group *group, const struct profile *profile,
			  const struct profile_row *row);
void answer_group_add_stack(struct group *group, uint32_t stack, double live);

/*
 * answer_rest.c: what grows though none of its groups does. *out_call: the call of the function
 * that leads to it; NO_GROUP = none. Returns 0 or -ENOMEM.
 */
int answer_find_rest(const struct finder *finder, struct group *out_rest, uint32_t *out_call);

/*
 * answer_keeper.c: if the function of a group that grows allocates for several callers, and one of
 * them keeps what it gets while the others free it: the call by that caller; else NO_GROUP. The
 * group's stack becomes one through the keeper. Returns 0 or -ENOMEM.
 */
int answer_find_keeper(const struct finder *finder, struct group *group, uint32_t *out_call);

/*
 * answer_enlarged.c: if the process grows by more than the groups that grow explain, and single
 * blocks were enlarged meanwhile that make up for that, adds these, each with its share. To be
 * called when all groups that grow have been added.
 */
void answer_add_enlarged(struct finder *finder);

/*
 * answer_stopped.c: if nothing grows, but more is in use for good than at the start, adds the group
 * that holds most of it. To be called last.
 */
void answer_add_stopped(struct finder *finder);

/*
 * answer_verdict.c: the verdict of all rows, and how much of the growth of the process they are. To
 * be called when all have been added.
 */
void answer_set_verdict(struct answer *answer);

/* answer_compare.c */
void answer_add_sizes(const struct profile *profile, const struct profile_row *row,
		      struct sizes *sizes);
void answer_find_old_freed(struct finder *finder);
/*
 * Compares a group that grows by its samples with what else is known, and changes its verdict. To
 * be called after answer_find_old_freed().
 */
void answer_compare(const struct finder *finder, struct group *group);
/* The same of all groups together, after that. */
void answer_compare_all(struct finder *finder);
/*
 * Whether what is in use is known to grow by less than what has this lower end of a slope, and
 * holds so much, in usable bytes.
 */
bool answer_exceeds_use(const struct answer *answer, double slope_low, double live);

/* answer_rows.c: makes a row of the group, if it is of interest. call: NO_GROUP = its own. */
void answer_add_group(struct finder *finder, const struct group *group, uint32_t call);

#endif
