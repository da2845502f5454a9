/* SPDX-License-Identifier: MIT */
/*
 * answer_enlarged.c - one block that is enlarged again and again: a vector that doubles, a buffer
 * that realloc moves. At any time there is one block of it, so no count of survivors tells that it
 * grows. See answer.h. Start at answer_find_enlarged().
 */
#include <math.h>

#include "answer_groups.h"

#define NS_PER_S 1e9
/* in times of the interval: such a block is sampled for certain (1 - e^-8) */
#define CERTAIN_INTERVALS 8.0
/* of the block's size: what it was before was not smaller */
#define BEFORE_SMALLEST (1.0 / 64)
/* a block that was enlarged once may have been enlarged for good */
#define FORMERS_MIN 2u
/* of the growth of the process that nothing else explains: the block makes at least so much of it
 */
#define EXPLAINS_SHARE 0.5
/* of the block: so much the process has grown at least, or its growth is of something else */
#define GROWN_SHARE (1.0 / 16)

static double mean_size(uint64_t bytes, uint64_t count)
{
	return count ? (double)bytes / (double)count : 0;
}

/* The only block of a stack, of those of its size or some sizes below, that is still in use. */
static const struct profile_row *largest_in_use(const struct profile *profile, uint32_t stack)
{
	const struct profile_row *largest = NULL;

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (row->key.stack == stack && row_trend_counts(row) && row->inuse_count == 1 &&
		    (double)row->inuse_bytes >= CERTAIN_INTERVALS * (double)row->key.interval &&
		    (!largest || row->inuse_bytes > largest->inuse_bytes))
			largest = row;
	}
	return largest;
}

/* The size of the block at the end; 0 = the stack has no such block. */
static double enlarged_size(const struct finder *finder, uint32_t stack)
{
	const struct profile *profile = finder->profile;
	const struct profile_row *block = largest_in_use(profile, stack);
	size_t formers = 0; /* kinds of blocks, each of another size */

	if (!block)
		return 0;
	const double size = (double)block->inuse_bytes;

	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];
		const uint64_t freed = row->alloc_count - row->inuse_count;

		if (row->key.stack != stack || !row_trend_counts(row) ||
		    mean_size(row->alloc_bytes, row->alloc_count) < BEFORE_SMALLEST * size)
			continue;
		if ((row != block && row->inuse_count) || row->last_ns > block->last_ns ||
		    mean_size(row->alloc_bytes - row->inuse_bytes, freed) >= size)
			return 0;
		formers += freed > 0;
	}
	return formers >= FORMERS_MIN ? size : 0;
}

static struct group group_of_stack(const struct finder *finder, uint32_t stack)
{
	const struct profile *profile = finder->profile;
	struct group group = {.sum = finder->begin, .stack = NO_GROUP, .is_enlarged = true};

	for (size_t i = 0; i < profile->row_count; i++)
		if (profile->row[i].key.stack == stack && row_trend_counts(&profile->row[i]))
			answer_group_add_row(&group, profile, &profile->row[i]);
	answer_group_add_stack(&group, stack, finder->stack_live[stack]);
	return group;
}

bool answer_find_enlarged(const struct finder *finder, struct group *out_group)
{
	const struct answer *answer = finder->answer;
	const struct process_growth *process = &answer->process;
	const double grown = process->bytes - answer->slope * answer->window_ns / NS_PER_S;
	double largest = 0;
	uint32_t stack = NO_GROUP;

	if (!process->is_known || process->low <= fmax(0, answer->slope_high))
		return false;
	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		if (finder->stack_live[i] <= fmax(largest, EXPLAINS_SHARE * grown) ||
		    grown < GROWN_SHARE * finder->stack_live[i] ||
		    enlarged_size(finder, i) < EXPLAINS_SHARE * finder->stack_live[i])
			continue;
		largest = finder->stack_live[i];
		stack = i;
	}
	if (stack == NO_GROUP)
		return false;
	*out_group = group_of_stack(finder, stack);
	out_group->trend = (struct trend){
		.verdict = TREND_PROBABLY,
		.slope = process->slope - answer->slope,
		.slope_low = process->low - answer->slope_high,
		.slope_high = process->high - answer->slope_low,
		.samples = 1,
	};
	return true;
}
