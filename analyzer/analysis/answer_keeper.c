/* SPDX-License-Identifier: MIT */
/*
 * answer_keeper.c - the caller that keeps what a function allocates for several callers. See
 * answer.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "answer_groups.h"

/* of the slope of the function: so much is the keeper's */
#define KEEPS_SHARE 0.8
/* of what is allocated: so much is for others at least, who free it */
#define OTHERS_SHARE 0.5

/* By function of the caller; and of all. */
struct callers {
	double *held, *allocated;
	double all_allocated;
};

/* The call of the stack's caller of the group's function; NO_GROUP: it has none. */
static uint32_t caller_of(const struct finder *finder, uint32_t stack)
{
	const struct function_call *call = finder->answer->frames.functions.call;
	size_t count;
	const uint32_t *calls = user_frames_unfold(&finder->answer->frames, stack, &count);
	size_t at = 1;

	while (at < count && call[calls[at]].function == call[calls[0]].function)
		at++; /* it calls itself */
	return at < count ? calls[at] : NO_GROUP;
}

/* The function that calls the group's function on that stack; NO_GROUP: another one's stack. */
static uint32_t calling_function(const struct finder *finder, uint32_t function, uint32_t stack)
{
	const uint32_t caller =
		answer_function_of(finder, stack) == function ? caller_of(finder, stack) : NO_GROUP;

	return caller == NO_GROUP ? NO_GROUP
				  : finder->answer->frames.functions.call[caller].function;
}

static void sum_up(const struct finder *finder, uint32_t function, struct callers *callers)
{
	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		const uint32_t caller = calling_function(finder, function, i);

		if (answer_function_of(finder, i) == function)
			callers->all_allocated += finder->stack_allocated[i];
		if (caller == NO_GROUP)
			continue;
		callers->held[caller] += finder->stack_live[i];
		callers->allocated[caller] += finder->stack_allocated[i];
	}
}

/* The caller that holds most, if others allocate enough; NO_GROUP: none. */
static uint32_t find_candidate(const struct finder *finder, uint32_t function,
			       const struct callers *callers)
{
	uint32_t best = NO_GROUP;

	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		const uint32_t caller = calling_function(finder, function, i);

		if (caller != NO_GROUP &&
		    (best == NO_GROUP || callers->held[caller] > callers->held[best]))
			best = caller;
	}
	return best != NO_GROUP && callers->allocated[best] <=
					   (1 - OTHERS_SHARE) * callers->all_allocated
		       ? best
		       : NO_GROUP;
}

/* What the function allocates for that caller. */
static struct group sum_of_caller(const struct finder *finder, uint32_t function, uint32_t caller)
{
	const struct profile *profile = finder->profile;
	struct group sum = {.sum = finder->begin, .stack = NO_GROUP};

	for (size_t i = 0; i < profile->row_count; i++)
		if (row_trend_counts(&profile->row[i]) &&
		    calling_function(finder, function, profile->row[i].key.stack) == caller)
			answer_group_add_row(&sum, profile, &profile->row[i]);
	for (uint32_t i = 0; i < profile->stack_count; i++)
		if (calling_function(finder, function, i) == caller)
			answer_group_add_stack(&sum, i, finder->stack_live[i]);
	sum.trend = trend_of(&sum.sum.slices, finder->level);
	return sum;
}

int answer_find_keeper(const struct finder *finder, struct group *group, uint32_t *out_call)
{
	const size_t functions = finder->answer->frames.functions.count;
	const uint32_t function = answer_function_of(finder, group->stack);
	struct callers callers = {
		.held = calloc(functions + 1, sizeof(*callers.held)),
		.allocated = calloc(functions + 1, sizeof(*callers.allocated)),
	};
	const int err = callers.held && callers.allocated ? 0 : -ENOMEM;
	uint32_t keeper = NO_GROUP;

	*out_call = NO_GROUP;
	if (!err) {
		sum_up(finder, function, &callers);
		keeper = find_candidate(finder, function, &callers);
	}
	if (keeper != NO_GROUP) {
		const struct group sum = sum_of_caller(finder, function, keeper);

		if (trend_is_growth(sum.trend.verdict) &&
		    sum.trend.slope >= KEEPS_SHARE * group->trend.slope) {
			group->stack = sum.stack;
			*out_call = caller_of(finder, sum.stack);
		}
	}
	free(callers.held);
	free(callers.allocated);
	return err;
}
