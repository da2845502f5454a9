/* SPDX-License-Identifier: MIT */
/*
 * call_costs.c - see call_costs.h.
 *
 * The stacks come sorted, so they are gone through as the tree that they are: what two neighbours have in common is visited once, and what a call led to is
 * known when it is left. Start at call_costs_open().
 */
#include "call_costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PAIR UINT32_MAX

/* Caller and callee, and how often that pair is on the way from the root to where we are. */
struct call_pair {
	uint32_t caller, callee;
	uint32_t depth;
};
/* A call on that way. */
struct call_level {
	uint32_t call;
	uint32_t pair; /* that led here; NO_PAIR: none, or a function that called itself */
	bool counts;   /* it is the outermost of its pair */
	double value[SAMPLE_TYPE_COUNT];
};

static void add_values(double *to, const double *from)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		to[type] += from[type];
}

static int file_number(struct call_costs *costs, const char *name, uint32_t *out_number)
{
	const uint64_t hash = hash_bytes(name, strlen(name));
	struct table_cursor cursor = table_seek(&costs->files, hash);

	while (table_next(&costs->files, &cursor, out_number)) {
		if (strcmp(costs->file[*out_number], name) == 0)
			return 0;
	}
	if (array_reserve(&costs->file, &costs->file_capacity, costs->file_count, sizeof(*costs->file)) ||
	    table_add(&costs->files, hash, (uint32_t)costs->file_count))
		return -ENOMEM;
	*out_number = (uint32_t)costs->file_count;
	costs->file[costs->file_count++] = name;
	return 0;
}

static int number_files(struct call_costs *costs, size_t call_count)
{
	const struct functions *functions = &costs->stacks.functions;

	costs->file_of = calloc(call_count + 1, sizeof(*costs->file_of));
	if (!costs->file_of || array_reserve(&costs->file, &costs->file_capacity, 0, sizeof(*costs->file)))
		return -ENOMEM;
	costs->file[costs->file_count++] = NULL;
	for (size_t i = 0; i < call_count; i++) {
		const char *name = functions->call[i].file;

		if (name && *name && file_number(costs, name, &costs->file_of[i]))
			return -ENOMEM;
	}
	return 0;
}

static int add_cost(struct call_costs *costs, const struct call_place *place, const double *value)
{
	const uint64_t hash = hash_bytes(place, sizeof(*place));
	struct table_cursor cursor = table_seek(&costs->places, hash);
	uint32_t index;

	while (table_next(&costs->places, &cursor, &index)) {
		if (memcmp(&costs->cost[index].place, place, sizeof(*place)) == 0) {
			add_values(costs->cost[index].value, value);
			return 0;
		}
	}
	if (array_reserve(&costs->cost, &costs->capacity, costs->count, sizeof(*costs->cost)) || table_add(&costs->places, hash, (uint32_t)costs->count))
		return -ENOMEM;
	costs->cost[costs->count] = (struct call_cost){.place = *place};
	add_values(costs->cost[costs->count++].value, value);
	return 0;
}

static struct call_place place_of(const struct call_costs *costs, uint32_t call, uint32_t callee)
{
	const struct function_call *at = &costs->stacks.functions.call[call];

	return (struct call_place){.function = at->function, .callee = callee, .file = costs->file_of[call], .line = at->line};
}

static int pair_number(struct call_costs *costs, uint32_t caller, uint32_t callee, uint32_t *out_pair)
{
	const uint64_t hash = hash_number((uint64_t)caller << 32 | callee);
	struct table_cursor cursor = table_seek(&costs->pairs, hash);

	while (table_next(&costs->pairs, &cursor, out_pair)) {
		if (costs->pair[*out_pair].caller == caller && costs->pair[*out_pair].callee == callee)
			return 0;
	}
	if (array_reserve(&costs->pair, &costs->pair_capacity, costs->pair_count, sizeof(*costs->pair)) ||
	    table_add(&costs->pairs, hash, (uint32_t)costs->pair_count))
		return -ENOMEM;
	*out_pair = (uint32_t)costs->pair_count;
	costs->pair[costs->pair_count++] = (struct call_pair){.caller = caller, .callee = callee};
	return 0;
}

/* Goes one call deeper. */
static int enter(struct call_costs *costs, size_t depth, uint32_t call)
{
	const struct function_call *calls = costs->stacks.functions.call;
	struct call_level *level = &costs->level[depth];

	*level = (struct call_level){.call = call, .pair = NO_PAIR};
	if (depth == 0 || calls[level[-1].call].function == calls[call].function)
		return 0;
	if (pair_number(costs, calls[level[-1].call].function, calls[call].function, &level->pair))
		return -ENOMEM;
	level->counts = costs->pair[level->pair].depth++ == 0;
	return 0;
}

/* Leaves a call: all that it led to is known. */
static int leave(struct call_costs *costs, size_t depth)
{
	struct call_level *level = &costs->level[depth];

	if (depth == 0)
		return 0;
	add_values(level[-1].value, level->value);
	if (level->pair == NO_PAIR)
		return 0;
	costs->pair[level->pair].depth--;
	if (!level->counts)
		return 0;
	const struct call_place place = place_of(costs, level[-1].call, costs->pair[level->pair].callee);
	return add_cost(costs, &place, level->value);
}

/* From the stack that we are at, `depth` calls deep, to this one. */
static int go_to(struct call_costs *costs, const struct stack_sum *sum, size_t depth)
{
	size_t common = 0;
	int error = 0;

	while (common < depth && common < sum->count && costs->level[common].call == sum->step[common])
		common++;
	while (depth > common && !error)
		error = leave(costs, --depth);
	for (; depth < sum->count && !error; depth++)
		error = enter(costs, depth, sum->step[depth]);
	if (error)
		return error;
	if (depth == 0)
		return add_cost(costs, &(struct call_place){.function = (uint32_t)costs->stacks.functions.count, .callee = CALL_COSTS_SELF}, sum->value);
	const struct call_place place = place_of(costs, costs->level[depth - 1].call, CALL_COSTS_SELF);
	add_values(costs->level[depth - 1].value, sum->value);
	return add_cost(costs, &place, sum->value);
}

static int go_through(struct call_costs *costs)
{
	size_t depth = 0, longest = 0;
	int error = 0;

	for (size_t i = 0; i < costs->stacks.count; i++)
		longest = costs->stacks.sum[i].count > longest ? costs->stacks.sum[i].count : longest;
	costs->level = malloc((longest + 1) * sizeof(*costs->level));
	if (!costs->level)
		return -ENOMEM;
	for (size_t i = 0; i < costs->stacks.count && !error; i++) {
		error = go_to(costs, &costs->stacks.sum[i], depth);
		depth = costs->stacks.sum[i].count;
	}
	while (depth > 0 && !error)
		error = leave(costs, --depth);
	return error;
}

static int compare(const void *left, const void *right)
{
	const struct call_place *a = &((const struct call_cost *)left)->place, *b = &((const struct call_cost *)right)->place;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

int call_costs_open(const struct profile *profile, struct call_costs *out_costs)
{
	struct call_costs costs = {0};
	int error = stack_sums_open(profile, STEPS_BY_CALL, STEPS_ROOT_FIRST, &costs.stacks);

	if (!error)
		error = number_files(&costs, costs.stacks.functions.first[profile->frame_count]);
	if (!error)
		error = go_through(&costs);
	if (error) {
		call_costs_close(&costs);
		return error;
	}
	if (costs.count)
		qsort(costs.cost, costs.count, sizeof(*costs.cost), compare);
	*out_costs = costs;
	return 0;
}

void call_costs_close(struct call_costs *costs)
{
	if (costs->stacks.steps)
		stack_sums_close(&costs->stacks);
	free(costs->file);
	free(costs->file_of);
	free(costs->cost);
	free(costs->pair);
	free(costs->level);
	table_close(&costs->places);
	table_close(&costs->files);
	table_close(&costs->pairs);
	*costs = (struct call_costs){0};
}
