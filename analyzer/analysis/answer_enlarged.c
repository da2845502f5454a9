/* SPDX-License-Identifier: MIT */
/*
 * answer_enlarged.c - one block that is enlarged again and again: a vector that doubles, a buffer
 * that realloc moves. At any time there is one block of it, so no count of survivors tells that it
 * grows. See answer.h. Start at answer_add_enlarged().
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
/* of the growth of the process that nothing else explains: the blocks make at least so much of it
 */
#define EXPLAINS_SHARE 0.5
/* of that: smaller blocks are none that matter */
#define TRIFLE_SHARE 0.1
/* of what a stack holds: the block is most of it */
#define BLOCK_SHARE 0.5
/* of the blocks: so much the process has grown at least, or its growth is of something else */
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

/* Whether the stack's block was enlarged, and is no trifle beside what it may explain. */
static bool is_candidate(const struct finder *finder, uint32_t stack, double grown)
{
	const double live = finder->stack_live[stack];

	return live > 0 && live >= TRIFLE_SHARE * grown &&
	       enlarged_size(finder, stack) >= BLOCK_SHARE * live;
}

void answer_add_enlarged(struct finder *finder)
{
	const struct answer *answer = finder->answer;
	const struct process_growth *process = &answer->process;
	const double rounding = answer->rounding,
		     grown = process->bytes -
			     (answer->slope + rounding) * answer->window_ns / NS_PER_S;
	/* of the process, beyond the groups that grow */
	const struct trend rest = {
		.slope = process->slope - answer->slope - rounding,
		.slope_low = process->low - answer->slope_high - rounding,
		.slope_high = process->high - answer->slope_low - rounding,
	};
	double all = 0;

	if (!process->is_known || process->low <= 0 || rest.slope_low <= 0)
		return;
	for (uint32_t i = 0; i < finder->profile->stack_count; i++)
		all += is_candidate(finder, i, grown) ? finder->stack_live[i] : 0;
	if (all <= EXPLAINS_SHARE * grown || grown < GROWN_SHARE * all)
		return;
	for (uint32_t i = 0; i < finder->profile->stack_count; i++) {
		if (!is_candidate(finder, i, grown))
			continue;
		const double part = finder->stack_live[i] / all;
		struct group group = group_of_stack(finder, i);

		group.trend = (struct trend){
			.verdict = TREND_PROBABLY,
			.slope = part * rest.slope,
			.slope_low = part * rest.slope_low,
			.slope_high = part * rest.slope_high,
			.samples = 1,
		};
		answer_add_group(finder, &group, NO_GROUP);
	}
}
