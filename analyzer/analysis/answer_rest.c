/* SPDX-License-Identifier: MIT */
/*
 * answer_rest.c - what grows though none of its groups does, and the function that leads to it. See
 * answer.h. Start at answer_find_rest().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "answer_groups.h"

/* a function that leads to this share of what grows is where one looks */
#define CALLER_SHARE 0.8

static bool is_rest(const struct finder *finder, uint32_t stack)
{
	const uint32_t group = finder->group_of[answer_function_of(finder, stack)];

	return group != NO_GROUP && !trend_is_growth(finder->group[group].trend.verdict);
}

/* Sums up the rest; function NO_GROUP = all of it, else what leads through that function. */
static struct group sum_rest(const struct finder *finder, const bool *leads)
{
	const struct profile *profile = finder->profile;
	struct group rest = {.sum = finder->begin, .stack = NO_GROUP};

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (row_trend_counts(row) && is_rest(finder, row->key.stack) &&
		    (!leads || leads[row->key.stack])) {
			answer_group_add_row(&rest, profile, row);
		}
	}
	for (uint32_t i = 0; i < profile->stack_count; i++)
		if (is_rest(finder, i) && (!leads || leads[i]))
			answer_group_add_stack(&rest, i, finder->stack_live[i]);
	return rest;
}

/*
 * By function: late bytes of the rest's stacks that lead through it. Each counts once a stack.
 * Returns the late bytes of the whole rest.
 */
static double weigh_callers(const struct finder *finder, double *weight, uint32_t *seen_in)
{
	const struct profile *profile = finder->profile;
	const struct functions *functions = &finder->answer->frames.functions;
	double all = 0;
	size_t count;

	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (!is_rest(finder, i) || finder->stack_late[i] <= 0)
			continue;
		all += finder->stack_late[i];
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);
		for (size_t k = 0; k < count; k++) {
			const uint32_t function = functions->call[call[k]].function;

			if (seen_in[function] != i + 1)
				weight[function] += finder->stack_late[i];
			seen_in[function] = i + 1;
		}
	}
	return all;
}

/*
 * Each stack votes, with what came late, for its innermost function that leads to CALLER_SHARE of
 * the rest: a stack that does not grow may hold more than each of those that do. all: of
 * weigh_callers(); votes: by function, zeroed. Returns the call of the function that wins;
 * NO_GROUP: none leads to so much.
 */
static uint32_t find_caller(const struct finder *finder, double all, const double *weight,
			    double *votes)
{
	const struct functions *functions = &finder->answer->frames.functions;
	uint32_t caller = NO_GROUP;
	double most = 0;
	size_t count;

	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		if (!is_rest(finder, i) || finder->stack_late[i] <= 0)
			continue;
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);
		size_t k = 0;

		while (k < count && weight[functions->call[call[k]].function] < CALLER_SHARE * all)
			k++;
		if (k == count)
			continue;
		double *vote = &votes[functions->call[call[k]].function];

		*vote += finder->stack_late[i];
		caller = *vote > most ? call[k] : caller;
		most = fmax(most, *vote);
	}
	return caller;
}

static void mark_stacks(const struct finder *finder, uint32_t function, bool *leads)
{
	const struct functions *functions = &finder->answer->frames.functions;
	size_t count;

	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		const uint32_t *call = user_frames_unfold(&finder->answer->frames, i, &count);

		leads[i] = false;
		for (size_t k = 0; k < count && !leads[i]; k++)
			leads[i] = functions->call[call[k]].function == function;
	}
}

/* Whether other functions than this one allocate on these stacks. */
static bool leads_to_others(const struct finder *finder, uint32_t function, const bool *leads)
{
	for (uint32_t i = 0; i < finder->profile->stack_count; i++)
		if (leads[i] && is_rest(finder, i) && finder->stack_late[i] > 0 &&
		    answer_function_of(finder, i) != function)
			return true;
	return false;
}

int answer_find_rest(const struct finder *finder, struct group *out_rest, uint32_t *out_call)
{
	const size_t stacks = finder->profile->stack_count,
		     functions = finder->answer->frames.functions.count;
	double *weight = calloc(functions + 1, sizeof(*weight));
	uint32_t *seen_in = calloc(functions + 1, sizeof(*seen_in));
	double *votes = calloc(functions + 1, sizeof(*votes));
	bool *leads = calloc(stacks + 1, sizeof(*leads));
	int err = weight && seen_in && votes && leads ? 0 : -ENOMEM;

	*out_call = NO_GROUP;
	if (!err) {
		*out_rest = sum_rest(finder, NULL);
		out_rest->trend = trend_of(&out_rest->sum.slices, finder->level);
	}
	if (!err && trend_is_growth(out_rest->trend.verdict)) {
		const double all = weigh_callers(finder, weight, seen_in);

		*out_call = find_caller(finder, all, weight, votes);
		out_rest->is_scattered = *out_call == NO_GROUP;
	}
	if (*out_call != NO_GROUP) {
		const uint32_t function = finder->answer->frames.functions.call[*out_call].function;

		mark_stacks(finder, function, leads);
		*out_rest = sum_rest(finder, leads);
		out_rest->trend = trend_of(&out_rest->sum.slices, finder->level);
		out_rest->is_caller = leads_to_others(finder, function, leads);
	}
	free(weight);
	free(seen_in);
	free(votes);
	free(leads);
	return err;
}
