/* SPDX-License-Identifier: MIT */
/*
 * render_grafana.c - the data frame of Grafana's flame graph panel: the call tree as a nested set,
 * which lists each node before its children, with its level.
 *
 * The panel shows one frame, so there is one, of the sample type asked for. In a comparison the
 * left side is the base and the right side is new.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "sample_types.h"
#include "stack_sums.h"
#include "table.h"
#include "text_out.h"

enum side { SIDE_LEFT, SIDE_RIGHT, SIDES };

struct node {
	uint32_t function; /* the number of functions: an unknown stack */
	uint32_t level;
	int64_t value[SIDES], self[SIDES];
};
struct tree {
	const struct stack_sums *sums;
	struct node *node; /* [0] is the root, which is no function */
	size_t count, capacity;
	size_t *path; /* by level: the latest node */
};

static int add_node(struct tree *tree, uint32_t function, size_t level)
{
	if (array_reserve(&tree->node, &tree->capacity, tree->count, sizeof(*tree->node)))
		return -ENOMEM;
	tree->node[tree->count] = (struct node){.function = function, .level = (uint32_t)level};
	tree->path[level] = tree->count++;
	return 0;
}

static void add_value(int64_t *to, int64_t value)
{
	*to = text_sum(*to, value);
}

/* The stacks are sorted, so the nodes of one that exist are at the end of the way to the last one.
 */
static int add_stack(struct tree *tree, const struct stack_sum *sum, const int64_t *value,
		     size_t *depth)
{
	const uint32_t unknown = (uint32_t)tree->sums->functions.count;
	const uint32_t *step = sum->count ? sum->step : &unknown;
	const size_t count = sum->count ? sum->count : 1;
	size_t level = 1;

	while (level <= count && level <= *depth &&
	       tree->node[tree->path[level]].function == step[level - 1])
		level++;
	for (; level <= count; level++) {
		if (add_node(tree, step[level - 1], level))
			return -ENOMEM;
	}
	*depth = count;
	for (int side = 0; side < SIDES; side++) {
		for (level = 0; level <= count; level++)
			add_value(&tree->node[tree->path[level]].value[side], value[side]);
		add_value(&tree->node[tree->path[count]].self[side], value[side]);
	}
	return 0;
}

static int build(struct tree *tree, enum sample_type type, bool is_comparison)
{
	const struct stack_sums *sums = tree->sums;
	size_t depth = 0;
	int err = add_node(tree, 0, 0);

	for (size_t i = 0; i < sums->count && !err; i++) {
		const struct stack_sum *sum = &sums->sum[i];
		const int64_t all = text_whole(sum->value[type] + sum->base[type]);
		const int64_t base = text_whole(sum->base[type]);
		const int64_t value[SIDES] = {is_comparison ? base : all, is_comparison ? all : 0};

		if (value[SIDE_LEFT] || value[SIDE_RIGHT])
			err = add_stack(tree, sum, value, &depth);
	}
	return err;
}

static void print_field(const char *name, enum sample_type type, FILE *out)
{
	fprintf(out, ",\n{\"name\":\"%s\",\"type\":\"number\",\"config\":{\"unit\":\"%s\"}}", name,
		sample_types[type].is_bytes ? "bytes" : "short");
}

static void print_fields(enum sample_type type, bool is_comparison, FILE *out)
{
	fprintf(out,
		"[{\"schema\":{\"name\":\"%s\","
		"\"meta\":{\"preferredVisualisationType\":\"flamegraph\"},"
		"\"fields\":[\n{\"name\":\"level\",\"type\":\"number\"},\n"
		"{\"name\":\"label\",\"type\":\"string\"}",
		sample_types[type].name);
	print_field("value", type, out);
	print_field("self", type, out);
	if (is_comparison) {
		print_field("valueRight", type, out);
		print_field("selfRight", type, out);
	}
	fputs("]},\n", out);
}

static void print_label(const struct tree *tree, size_t index, FILE *out)
{
	const struct functions *functions = &tree->sums->functions;
	const uint32_t function = tree->node[index].function;

	if (!index)
		fputs("\"total\"", out);
	else if (function < functions->count)
		text_json(functions->name[function], out);
	else
		fputs("\"" RENDER_UNKNOWN "\"", out);
}

static void print_values(const struct tree *tree, bool is_comparison, FILE *out)
{
	fputs("\"data\":{\"values\":[\n[", out);
	for (size_t i = 0; i < tree->count; i++) {
		fputs(i ? "," : "", out);
		text_count(tree->node[i].level, out);
	}
	fputs("],\n[", out);
	for (size_t i = 0; i < tree->count; i++) {
		fputs(i ? "," : "", out);
		print_label(tree, i, out);
	}
	for (int side = 0; side < (is_comparison ? SIDES : SIDE_RIGHT); side++) {
		fputs("],\n[", out);
		for (size_t i = 0; i < tree->count; i++) {
			fputs(i ? "," : "", out);
			text_number(tree->node[i].value[side], out);
		}
		fputs("],\n[", out);
		for (size_t i = 0; i < tree->count; i++) {
			fputs(i ? "," : "", out);
			text_number(tree->node[i].self[side], out);
		}
	}
	fputs("]]}}]\n", out);
}

int render_grafana(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const bool is_comparison = profile_is_comparison(profile);
	struct stack_sums sums;
	struct tree tree = {.sums = &sums};
	int err = stack_sums_open(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums);

	if (err)
		return render_result(err, out);
	tree.path = calloc(functions_stack_bound(&sums.functions, profile) + 2, sizeof(*tree.path));
	err = tree.path ? build(&tree, options->type, is_comparison) : -ENOMEM;
	if (!err) {
		print_fields(options->type, is_comparison, out);
		print_values(&tree, is_comparison, out);
	}
	free(tree.node);
	free(tree.path);
	stack_sums_close(&sums);
	return render_result(err, out);
}
