/* SPDX-License-Identifier: MIT */
/*
 * call_costs.c - see call_costs.h.
 *
 * Stacks are counted one by one, from the root to the leaf. Source lines are numbered beforehand,
 * so one number finds the cost of a step. A cost knows its pair of functions. Start at
 * call_costs_open().
 */
#include "call_costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Caller and callee. */
struct call_pair {
	uint32_t caller, callee;
	uint32_t round; /* the last stack in which the pair was counted */
};

struct call_counter {
	struct call_costs costs;
	size_t cost_room, file_room;
	struct table files;
	struct call_place *line; /* distinct ones, without callee */
	uint32_t *line_of;       /* by call: index into line[] */
	size_t line_count, line_room;
	struct table lines;
	struct table steps; /* of costs, by line and callee */
	uint32_t *pair_of;  /* by cost, except for CALL_COSTS_SELF */
	size_t pair_of_room;
	struct call_pair *pair;
	size_t pair_count, pair_room;
	struct table pairs;
	bool by_way;
	uint32_t *parent; /* by node */
	size_t node_room, parent_room;
	struct table nodes; /* by parent and function */
	uint32_t round;     /* one per stack, from 1 */
};

/* ---- files and lines ------------------------------------------------------------------------- */

static int file_number(struct call_counter *counter, const char *name, uint32_t *out_number)
{
	struct call_costs *costs = &counter->costs;
	const uint64_t hash = hash_bytes(name, strlen(name));
	struct table_cursor cursor = table_seek(&counter->files, hash);

	while (table_next(&counter->files, &cursor, out_number)) {
		if (strcmp(costs->file[*out_number], name) == 0)
			return 0;
	}
	if (array_reserve(&costs->file, &counter->file_room, costs->file_count,
			  sizeof(*costs->file)) ||
	    table_add(&counter->files, hash, (uint32_t)costs->file_count))
		return -ENOMEM;
	*out_number = (uint32_t)costs->file_count;
	costs->file[costs->file_count++] = name;
	return 0;
}

static int line_number(struct call_counter *counter, const struct call_place *line,
		       uint32_t *out_number)
{
	const uint64_t hash = hash_bytes(line, sizeof(*line));
	struct table_cursor cursor = table_seek(&counter->lines, hash);

	while (table_next(&counter->lines, &cursor, out_number)) {
		if (memcmp(&counter->line[*out_number], line, sizeof(*line)) == 0)
			return 0;
	}
	if (array_reserve(&counter->line, &counter->line_room, counter->line_count,
			  sizeof(*counter->line)) ||
	    table_add(&counter->lines, hash, (uint32_t)counter->line_count))
		return -ENOMEM;
	*out_number = (uint32_t)counter->line_count;
	counter->line[counter->line_count++] = *line;
	return 0;
}

/* The last line stands for unknown stacks. */
static int number_lines(struct call_counter *counter, size_t call_count)
{
	struct call_costs *costs = &counter->costs;
	struct call_place line = {.callee = CALL_COSTS_SELF};

	costs->file_of = calloc(call_count + 1, sizeof(*costs->file_of));
	counter->line_of = calloc(call_count + 1, sizeof(*counter->line_of));
	if (!costs->file_of || !counter->line_of ||
	    array_reserve(&costs->file, &counter->file_room, 0, sizeof(*costs->file)))
		return -ENOMEM;
	costs->file[costs->file_count++] = NULL;
	for (size_t i = 0; i < call_count; i++) {
		const struct function_call *call = &costs->functions.call[i];

		if (call->file && *call->file &&
		    file_number(counter, call->file, &costs->file_of[i]))
			return -ENOMEM;
		line.function = call->function;
		line.file = costs->file_of[i];
		line.line = call->line;
		if (line_number(counter, &line, &counter->line_of[i]))
			return -ENOMEM;
	}
	line = (struct call_place){.function = (uint32_t)costs->functions.count,
				   .callee = CALL_COSTS_SELF};
	return line_number(counter, &line, &counter->line_of[call_count]);
}

/* ---- ways ------------------------------------------------------------------------------------ */

#define NO_PARENT UINT32_MAX

static bool find_node(const struct call_counter *counter, uint32_t parent, uint32_t function,
		      uint64_t hash, uint32_t *out_node)
{
	struct table_cursor cursor = table_seek(&counter->nodes, hash);

	while (table_next(&counter->nodes, &cursor, out_node)) {
		if (counter->parent[*out_node] == parent &&
		    counter->costs.node[*out_node].function == function)
			return true;
	}
	return false;
}

/* The place in which a function counts that is called from another such place. */
static int node_below(struct call_counter *counter, uint32_t parent, uint32_t function,
		      uint32_t *out_node)
{
	const uint64_t hash = hash_number((uint64_t)parent << 32 | function);
	struct call_costs *costs = &counter->costs;

	if (!counter->by_way) {
		*out_node = function;
		return 0;
	}
	if (find_node(counter, parent, function, hash, out_node))
		return 0;
	*out_node = (uint32_t)costs->node_count;
	if (array_reserve(&costs->node, &counter->node_room, costs->node_count,
			  sizeof(*costs->node)) ||
	    array_reserve(&counter->parent, &counter->parent_room, costs->node_count,
			  sizeof(*counter->parent)) ||
	    table_add(&counter->nodes, hash, *out_node))
		return -ENOMEM;
	counter->parent[*out_node] = parent;
	costs->node[*out_node] =
		(struct call_node){.function = function, .number = costs->node_ways[function]++};
	costs->node_count++;
	return 0;
}

static int open_ways(struct call_counter *counter)
{
	struct call_costs *costs = &counter->costs;

	if (!counter->by_way)
		return 0;
	costs->node_ways = calloc(costs->functions.count + 1, sizeof(*costs->node_ways));
	return costs->node_ways && !array_reserve(&costs->node, &counter->node_room, 0,
						  sizeof(*costs->node))
		       ? 0
		       : -ENOMEM;
}

/* ---- costs ----------------------------------------------------------------------------------- */

static int pair_number(struct call_counter *counter, uint32_t caller, uint32_t callee,
		       uint32_t *out_pair)
{
	const uint64_t hash = hash_number((uint64_t)caller << 32 | callee);
	struct table_cursor cursor = table_seek(&counter->pairs, hash);

	while (table_next(&counter->pairs, &cursor, out_pair)) {
		if (counter->pair[*out_pair].caller == caller &&
		    counter->pair[*out_pair].callee == callee)
			return 0;
	}
	if (array_reserve(&counter->pair, &counter->pair_room, counter->pair_count,
			  sizeof(*counter->pair)) ||
	    table_add(&counter->pairs, hash, (uint32_t)counter->pair_count))
		return -ENOMEM;
	*out_pair = (uint32_t)counter->pair_count;
	counter->pair[counter->pair_count++] =
		(struct call_pair){.caller = caller, .callee = callee};
	return 0;
}

static bool find_step(const struct call_counter *counter, const struct call_place *place,
		      uint64_t hash, uint32_t *out_cost)
{
	struct table_cursor cursor = table_seek(&counter->steps, hash);

	while (table_next(&counter->steps, &cursor, out_cost)) {
		if (memcmp(&counter->costs.cost[*out_cost].place, place, sizeof(*place)) == 0)
			return true;
	}
	return false;
}

static int new_step(struct call_counter *counter, const struct call_place *place, uint64_t hash,
		    uint32_t pair)
{
	struct call_costs *costs = &counter->costs;

	if (array_reserve(&costs->cost, &counter->cost_room, costs->count, sizeof(*costs->cost)) ||
	    array_reserve(&counter->pair_of, &counter->pair_of_room, costs->count,
			  sizeof(*counter->pair_of)) ||
	    table_add(&counter->steps, hash, (uint32_t)costs->count))
		return -ENOMEM;
	counter->pair_of[costs->count] = pair;
	costs->cost[costs->count++] = (struct call_cost){.place = *place};
	return 0;
}

/*
 * Adds to the cost of a line, for one callee or for CALL_COSTS_SELF, unless the pair of functions
 * was already counted in this stack.
 */
static int add_step(struct call_counter *counter, uint32_t line, uint32_t node, uint32_t callee,
		    const double *value)
{
	const uint64_t hash = hash_number(((uint64_t)line << 32 | callee) ^
					  (counter->by_way ? hash_number(node) : 0));
	struct call_place place = counter->line[line];
	uint32_t cost, pair = 0;

	place.function = node;
	place.callee = callee;
	const bool is_known = find_step(counter, &place, hash, &cost);

	if (is_known)
		pair = counter->pair_of[cost];
	else if (callee != CALL_COSTS_SELF && pair_number(counter, place.function, callee, &pair))
		return -ENOMEM;
	if (callee != CALL_COSTS_SELF) {
		if (counter->pair[pair].round == counter->round)
			return 0;
		counter->pair[pair].round = counter->round;
	}
	if (!is_known) {
		cost = (uint32_t)counter->costs.count;
		if (new_step(counter, &place, hash, pair))
			return -ENOMEM;
	}
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		counter->costs.cost[cost].value[type] += value[type];
	return 0;
}

static int add_stack(struct call_counter *counter, const struct profile *profile, size_t stack,
		     const double *value)
{
	const struct functions *functions = &counter->costs.functions;
	uint32_t at = functions->first[profile->frame_count]; /* the stack is unknown */
	uint32_t node, callee;
	size_t count;
	const uint32_t *calls = functions_unfold(functions, &profile->stack[stack], &count);

	counter->round++;
	if (count)
		at = calls[--count];
	if (node_below(counter, NO_PARENT, counter->line[counter->line_of[at]].function, &node))
		return -ENOMEM;
	while (count > 0) {
		const uint32_t next = calls[--count];

		if (node_below(counter, node, functions->call[next].function, &callee))
			return -ENOMEM;
		if (callee != node && add_step(counter, counter->line_of[at], node, callee, value))
			return -ENOMEM;
		at = next;
		node = callee;
	}
	return add_step(counter, counter->line_of[at], node, CALL_COSTS_SELF, value);
}

/* What each stack holds, for all sample types. The caller frees the array. */
static double *stack_values(const struct profile *profile)
{
	double *value = calloc(profile->stack_count + 1, SAMPLE_TYPE_COUNT * sizeof(*value));

	for (size_t i = 0; value && i < profile->row_count; i++) {
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
			value[profile->row[i].key.stack * (size_t)SAMPLE_TYPE_COUNT +
			      (size_t)type] +=
				estimate_of(profile, &profile->row[i], (enum sample_type)type)
					.value;
	}
	return value;
}

static bool is_nothing(const double *value)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		if (value[type] != 0)
			return false;
	}
	return true;
}

static int add_stacks(struct call_counter *counter, const struct profile *profile)
{
	double *values = stack_values(profile);
	int err = values ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile->stack_count && !err; i++) {
		if (!is_nothing(&values[i * SAMPLE_TYPE_COUNT]))
			err = add_stack(counter, profile, i, &values[i * SAMPLE_TYPE_COUNT]);
	}
	free(values);
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct call_place *a = &((const struct call_cost *)left)->place,
				*b = &((const struct call_cost *)right)->place;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

int call_costs_open(const struct profile *profile, bool by_way, struct call_costs *out_costs)
{
	struct call_counter counter = {.by_way = by_way};
	int err = functions_open(profile, &counter.costs.functions);

	if (!err)
		err = number_lines(&counter, counter.costs.functions.first[profile->frame_count]);
	if (!err)
		err = open_ways(&counter);
	if (!err)
		err = add_stacks(&counter, profile);
	free(counter.line);
	free(counter.line_of);
	free(counter.pair_of);
	free(counter.pair);
	free(counter.parent);
	table_close(&counter.nodes);
	table_close(&counter.files);
	table_close(&counter.lines);
	table_close(&counter.steps);
	table_close(&counter.pairs);
	if (err) {
		call_costs_close(&counter.costs);
		return err;
	}
	if (counter.costs.count)
		qsort(counter.costs.cost, counter.costs.count, sizeof(*counter.costs.cost),
		      compare);
	*out_costs = counter.costs;
	return 0;
}

void call_costs_close(struct call_costs *costs)
{
	functions_close(&costs->functions);
	free(costs->file);
	free(costs->file_of);
	free(costs->node);
	free(costs->node_ways);
	free(costs->cost);
	*costs = (struct call_costs){0};
}
