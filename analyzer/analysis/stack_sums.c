/* SPDX-License-Identifier: MIT */
/*
 * stack_sums.c - see stack_sums.h.
 *
 * Each stack is unfolded to a sequence of steps. The sequences are sorted, and the values of stacks
 * with equal sequences are added up. Start at stack_sums_open().
 *
 * Comparing whole sequences would wait for memory, since those of a million stacks fit in no cache.
 * So each stack has a sort key with its next two steps, and only stacks with equal keys are sorted
 * again, by the two steps after these.
 */
#include "stack_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The next two steps of a stack, packed so that the keys sort as the steps do. Each step is stored
 * plus one; 0 = the stack has ended.
 */
struct key {
	uint64_t steps;
	uint32_t stack;
};
/* The keys of stacks whose steps before `depth` are equal. */
struct range {
	size_t first, count, depth;
};

struct sorter {
	const uint32_t *step; /* of all stacks, one after the other */
	size_t *start;        /* by stack: its first index in step[]; the next stack's is its end */
	struct key *key;
	struct range *range; /* still to be sorted */
	size_t range_count, range_room;
};

/* The total number of steps of all stacks. */
static size_t count_steps(const struct profile *profile, const struct functions *functions)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stack[i];

		for (uint32_t f = 0; f < stack->frame_count; f++)
			count += functions->first[stack->frame[f] + 1] -
				 functions->first[stack->frame[f]];
	}
	return count;
}

static void unfold_all(const struct profile *profile, enum stack_steps by, enum stack_order order,
		       struct stack_sums *sums, size_t *start)
{
	uint32_t *step = sums->steps;

	for (size_t i = 0; i < profile->stack_count; i++) {
		size_t count;
		const uint32_t *calls =
			functions_unfold(&sums->functions, &profile->stack[i], &count);

		start[i] = (size_t)(step - sums->steps);
		for (size_t k = 0; k < count; k++) {
			const uint32_t call = calls[order == STEPS_ROOT_FIRST ? count - 1 - k : k];
			step[k] = by == STEPS_BY_FUNCTION ? sums->functions.call[call].function
							  : call;
		}
		step += count;
	}
	start[profile->stack_count] = (size_t)(step - sums->steps);
}

/* ---- sorting --------------------------------------------------------------------------------- */

static uint64_t step_at(const struct sorter *sorter, uint32_t stack, size_t depth)
{
	const size_t at = sorter->start[stack] + depth;

	return at < sorter->start[stack + 1] ? sorter->step[at] + (uint64_t)1 : 0;
}

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->steps != b->steps)
		return a->steps < b->steps ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int add_range(struct sorter *sorter, size_t first, size_t count, size_t depth)
{
	if (array_reserve(&sorter->range, &sorter->range_room, sorter->range_count,
			  sizeof(*sorter->range)))
		return -ENOMEM;
	sorter->range[sorter->range_count++] =
		(struct range){.first = first, .count = count, .depth = depth};
	return 0;
}

static int sort_range(struct sorter *sorter, const struct range *range)
{
	struct key *key = sorter->key + range->first;
	size_t end;

	for (size_t i = 0; i < range->count; i++)
		key[i].steps = step_at(sorter, key[i].stack, range->depth) << 32 |
			       step_at(sorter, key[i].stack, range->depth + 1);
	qsort(key, range->count, sizeof(*key), compare_keys);
	for (size_t i = 0; i < range->count; i = end) {
		for (end = i + 1; end < range->count && key[end].steps == key[i].steps; end++)
			;
		/* If the second step is missing, all these stacks have ended: they are equal. */
		if (end > i + 1 && (uint32_t)key[i].steps &&
		    add_range(sorter, range->first + i, end - i, range->depth + 2))
			return -ENOMEM;
	}
	return 0;
}

static int sort_stacks(struct sorter *sorter, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count; i++)
		sorter->key[i].stack = (uint32_t)i;
	if (count)
		err = add_range(sorter, 0, count, 0);
	while (sorter->range_count && !err) {
		const struct range range = sorter->range[--sorter->range_count];

		err = sort_range(sorter, &range);
	}
	return err;
}

/* ---- grouping, and adding up ----------------------------------------------------------------- */

static bool is_same(const struct sorter *sorter, uint32_t left, uint32_t right)
{
	const size_t a = sorter->start[left], b = sorter->start[right],
		     count = sorter->start[left + 1] - a;

	return sorter->start[right + 1] - b == count &&
	       memcmp(sorter->step + a, sorter->step + b, count * sizeof(*sorter->step)) == 0;
}

/* Numbers the groups of equal stacks, which are neighbours after sorting. */
static size_t number_groups(const struct sorter *sorter, size_t count, uint32_t *group_of)
{
	size_t groups = 0;

	for (size_t i = 0; i < count; i++) {
		groups +=
			i == 0 || !is_same(sorter, sorter->key[i - 1].stack, sorter->key[i].stack);
		group_of[sorter->key[i].stack] = (uint32_t)(groups - 1);
	}
	return groups;
}

static void add_rows(const struct profile *profile, const uint32_t *group_of,
		     struct stack_sum *sums)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		struct stack_sum *sum = &sums[group_of[profile->row[i].key.stack]];
		struct estimate estimate[SAMPLE_TYPE_COUNT];

		estimates_of(profile, &profile->row[i], estimate);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			sum->value[type] += estimate[type].value;
			sum->base[type] += estimate[type].base;
		}
		sum->slack += estimate[INUSE_SPACE].slack;
		sum->lived_ns += estimate[INUSE_SPACE].age_ns + estimate[INUSE_SPACE].lifetime_ns;
	}
}

/* A sum uses the steps of the last stack of its group. */
static int make_sums(const struct profile *profile, const struct sorter *sorter,
		     struct stack_sums *sums)
{
	sums->count = number_groups(sorter, profile->stack_count, sums->group_of);
	sums->sum = calloc(sums->count + 1, sizeof(*sums->sum));
	if (!sums->sum)
		return -ENOMEM;
	for (size_t i = 0; i < profile->stack_count; i++) {
		struct stack_sum *sum = &sums->sum[sums->group_of[i]];

		sum->step = sorter->step + sorter->start[i];
		sum->count = sorter->start[i + 1] - sorter->start[i];
	}
	return 0;
}

static int sort_and_group(const struct profile *profile, enum stack_steps by,
			  enum stack_order order, struct stack_sums *sums)
{
	struct sorter sorter = {
		.step = sums->steps,
		.start = malloc((profile->stack_count + 1) * sizeof(*sorter.start)),
		.key = malloc((profile->stack_count + 1) * sizeof(*sorter.key)),
	};
	int err = sorter.start && sorter.key ? 0 : -ENOMEM;

	if (!err) {
		unfold_all(profile, by, order, sums, sorter.start);
		err = sort_stacks(&sorter, profile->stack_count);
	}
	if (!err)
		err = make_sums(profile, &sorter, sums);
	free(sorter.start);
	free(sorter.key);
	free(sorter.range);
	return err;
}

static void find_files(const struct profile *profile, struct stack_sums *sums)
{
	const struct functions *functions = &sums->functions;

	for (uint32_t call = 0; call < functions->first[profile->frame_count]; call++) {
		const char **file = &sums->file[functions->call[call].function];

		*file = *file ? *file : functions->call[call].file;
	}
}

int stack_sums_open_empty(const struct profile *profile, enum stack_steps by,
			  enum stack_order order, struct stack_sums *out_sums)
{
	struct stack_sums sums = {0};
	int err;

	if (functions_open(profile, &sums.functions))
		return -ENOMEM;
	sums.steps = malloc((count_steps(profile, &sums.functions) + 1) * sizeof(*sums.steps));
	sums.file = calloc(sums.functions.count + 1, sizeof(*sums.file));
	sums.group_of = malloc((profile->stack_count + 1) * sizeof(*sums.group_of));
	err = sums.steps && sums.file && sums.group_of ? 0 : -ENOMEM;
	if (!err)
		err = sort_and_group(profile, by, order, &sums);
	if (err) {
		stack_sums_close(&sums);
		return err;
	}
	find_files(profile, &sums);
	*out_sums = sums;
	return 0;
}

int stack_sums_open(const struct profile *profile, enum stack_steps by, enum stack_order order,
		    struct stack_sums *out_sums)
{
	const int err = stack_sums_open_empty(profile, by, order, out_sums);

	if (!err)
		add_rows(profile, out_sums->group_of, out_sums->sum);
	return err;
}

void stack_sums_close(struct stack_sums *sums)
{
	functions_close(&sums->functions);
	free(sums->sum);
	free(sums->steps);
	free(sums->group_of);
	free(sums->file);
	*sums = (struct stack_sums){0};
}
