/* SPDX-License-Identifier: MIT */
/*
 * stack_sums.c - see stack_sums.h.
 *
 * Each stack is unfolded to a sequence of numbers, the sequences are sorted, and equal neighbours are added up. Start at stack_sums_open().
 */
#include "stack_sums.h"

#include <errno.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct stack_sum *a = left, *b = right;
	const size_t shorter = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < shorter; i++) {
		if (a->step[i] != b->step[i])
			return a->step[i] < b->step[i] ? -1 : 1;
	}
	return a->count < b->count ? -1 : a->count > b->count;
}

/* How many steps all stacks have together. */
static size_t count_steps(const struct profile *profile, const struct functions *functions)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stack[i];

		for (uint32_t f = 0; f < stack->frame_count; f++)
			count += functions->first[stack->frame[f] + 1] - functions->first[stack->frame[f]];
	}
	return count;
}

static void unfold_all(const struct profile *profile, enum stack_steps by, enum stack_order order, struct stack_sums *sums)
{
	uint32_t *step = sums->steps;

	for (size_t i = 0; i < profile->stack_count; i++) {
		size_t count;
		const uint32_t *calls = functions_unfold(&sums->functions, &profile->stack[i], &count);

		for (size_t k = 0; k < count; k++) {
			const uint32_t call = calls[order == STEPS_ROOT_FIRST ? count - 1 - k : k];
			step[k] = by == STEPS_BY_FUNCTION ? sums->functions.call[call].function : call;
		}
		sums->sum[i] = (struct stack_sum){.step = step, .count = count};
		step += count;
	}
}

static void add_rows(const struct profile *profile, struct stack_sums *sums)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		struct stack_sum *sum = &sums->sum[profile->row[i].key.stack];

		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			const struct estimate estimate = estimate_of(profile, &profile->row[i], (enum sample_type)type);

			sum->value[type] += estimate.value;
			sum->base[type] += estimate.base;
			if (type == INUSE_SPACE) {
				sum->slack += estimate.slack;
				sum->lived_ns += estimate.age_ns + estimate.lifetime_ns;
			}
		}
	}
}

static void add(struct stack_sum *to, const struct stack_sum *from)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		to->value[type] += from->value[type];
		to->base[type] += from->base[type];
	}
	to->slack += from->slack;
	to->lived_ns += from->lived_ns;
}

static void unite(struct stack_sums *sums, size_t count)
{
	qsort(sums->sum, count, sizeof(*sums->sum), compare);
	for (size_t i = 0; i < count; i++) {
		if (sums->count && compare(&sums->sum[sums->count - 1], &sums->sum[i]) == 0)
			add(&sums->sum[sums->count - 1], &sums->sum[i]);
		else
			sums->sum[sums->count++] = sums->sum[i];
	}
}

static void find_files(const struct profile *profile, struct stack_sums *sums)
{
	const struct functions *functions = &sums->functions;

	for (uint32_t call = 0; call < functions->first[profile->frame_count]; call++) {
		const char **file = &sums->file[functions->call[call].function];

		*file = *file ? *file : functions->call[call].file;
	}
}

int stack_sums_open(const struct profile *profile, enum stack_steps by, enum stack_order order, struct stack_sums *out_sums)
{
	struct stack_sums sums = {0};

	if (functions_open(profile, &sums.functions))
		return -ENOMEM;
	sums.sum = malloc((profile->stack_count + 1) * sizeof(*sums.sum));
	sums.steps = malloc((count_steps(profile, &sums.functions) + 1) * sizeof(*sums.steps));
	sums.file = calloc(sums.functions.count + 1, sizeof(*sums.file));
	if (!sums.sum || !sums.steps || !sums.file) {
		stack_sums_close(&sums);
		return -ENOMEM;
	}
	find_files(profile, &sums);
	unfold_all(profile, by, order, &sums);
	add_rows(profile, &sums);
	unite(&sums, profile->stack_count);
	*out_sums = sums;
	return 0;
}

void stack_sums_close(struct stack_sums *sums)
{
	functions_close(&sums->functions);
	free(sums->sum);
	free(sums->steps);
	free(sums->file);
	*sums = (struct stack_sums){0};
}
