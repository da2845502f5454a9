/* SPDX-License-Identifier: MIT */
/*
 * render_tree.c - every function between its callers, above it, and its callees, below it, in the
 * columns of pprof -tree. The weight of a call is part of the cumulative weight of the function in
 * the middle.
 *
 * --peek shows the same for some functions only, with all their callers and callees.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph_trim.h"
#include "hi_units.h"
#include "pattern.h"
#include "render_header.h"
#include "style.h"

#define NODES_DEFAULT 80u
#define SEPARATOR "----------------------------------------------------------+-------------"
#define LEGEND "      flat  flat%   sum%        cum   cum%   calls calls% + context"

/*
 * The edges of a graph by the node at one of their ends. The edges of node n are edge[first[n]] to
 * edge[first[n + 1] - 1], heaviest first.
 */
struct fan {
	uint32_t *edge;
	size_t *first;
};
struct tree {
	const struct callgraph *graph;
	const struct render_options *options;
	struct fan in, out;
	double sum;
};

static int compare_edges(const void *left, const void *right, void *context)
{
	const struct callgraph *graph = context;
	const struct callgraph_edge *a = &graph->edge[*(const uint32_t *)left],
				    *b = &graph->edge[*(const uint32_t *)right];
	const long long a_weight = llabs(llround(a->weight.value)),
			b_weight = llabs(llround(b->weight.value));
	int order;

	if (a_weight != b_weight)
		return a_weight > b_weight ? -1 : 1;
	order = strcmp(graph->node[a->caller].name, graph->node[b->caller].name);
	return order ? order : strcmp(graph->node[a->callee].name, graph->node[b->callee].name);
}

static uint32_t end_of(const struct callgraph_edge *edge, bool is_in)
{
	return is_in ? edge->callee : edge->caller;
}

static int fan_open(const struct callgraph *graph, bool is_in, struct fan *fan)
{
	fan->edge = malloc((graph->edge_count + 1) * sizeof(*fan->edge));
	fan->first = calloc(graph->node_count + 2, sizeof(*fan->first));
	if (!fan->edge || !fan->first)
		return -ENOMEM;
	/*
	 * The counts are one index further than at the end: the placing loop advances each start to
	 * its end.
	 */
	for (size_t i = 0; i < graph->edge_count; i++)
		fan->first[end_of(&graph->edge[i], is_in) + (size_t)2]++;
	for (size_t i = 2; i < graph->node_count + 2; i++)
		fan->first[i] += fan->first[i - 1];
	for (size_t i = 0; i < graph->edge_count; i++)
		fan->edge[fan->first[end_of(&graph->edge[i], is_in) + (size_t)1]++] = (uint32_t)i;
	for (size_t i = 0; i < graph->node_count; i++)
		qsort_r(fan->edge + fan->first[i], fan->first[i + 1] - fan->first[i],
			sizeof(*fan->edge), compare_edges, (void *)(uintptr_t)graph);
	return 0;
}

static void fan_close(struct fan *fan)
{
	free(fan->edge);
	free(fan->first);
}

static void print_separator(FILE *out)
{
	style_print(STYLE_DIM, out, "%s", SEPARATOR);
	fputc('\n', out);
}

static void print_fan(const struct tree *tree, const struct fan *fan, uint32_t index, bool is_in,
		      FILE *out)
{
	const struct callgraph *graph = tree->graph;
	char value[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX];

	for (size_t i = fan->first[index]; i < fan->first[index + 1]; i++) {
		const struct callgraph_edge *edge = &graph->edge[fan->edge[i]];

		style_print(style_of_change(callgraph_weight(edge), graph->total.base > 0), out,
			    "%50s",
			    render_value(callgraph_weight(edge), tree->options->type, value));
		fprintf(out, " %s |   %s%s\n",
			render_percent(callgraph_weight(edge), callgraph_cum(&graph->node[index]),
				       percent),
			graph->node[is_in ? edge->caller : edge->callee].name,
			edge->is_inline ? " (inline)" : "");
	}
}

static void print_node(struct tree *tree, uint32_t index, FILE *out)
{
	const struct callgraph *graph = tree->graph;
	const struct callgraph_node *node = &graph->node[index];
	const enum sample_type type = tree->options->type;
	const bool is_difference = graph->total.base > 0;
	char flat[HI_UNITS_TEXT_MAX], flat_percent[HI_UNITS_TEXT_MAX],
		sum_percent[HI_UNITS_TEXT_MAX], cum[HI_UNITS_TEXT_MAX],
		cum_percent[HI_UNITS_TEXT_MAX];

	tree->sum += callgraph_flat(node);
	print_separator(out);
	print_fan(tree, &tree->in, index, true, out);
	style_print(style_of_change(callgraph_flat(node), is_difference), out, "%10s",
		    render_value(callgraph_flat(node), type, flat));
	fprintf(out, " %s %s ",
		render_percent(callgraph_flat(node), graph->percent_base, flat_percent),
		render_percent(tree->sum, graph->percent_base, sum_percent));
	style_print(style_of_change(callgraph_cum(node), is_difference), out, "%10s",
		    render_value(callgraph_cum(node), type, cum));
	fprintf(out, " %s                | ",
		render_percent(callgraph_cum(node), graph->percent_base, cum_percent));
	style_print(STYLE_HEADING, out, "%s", node->name);
	fputc('\n', out);
	print_fan(tree, &tree->out, index, false, out);
}

/* only: prints only the nodes that match; NULL = all. Returns how many match. */
static size_t print_nodes(struct tree *tree, const uint32_t *order, size_t count,
			  const struct pattern *only, FILE *out)
{
	size_t matches = 0;

	print_separator(out);
	style_print(STYLE_HEADING, out, "%s", LEGEND);
	fputc('\n', out);
	for (size_t i = 0; i < count; i++) {
		if (only && !pattern_matches(only, tree->graph->node[order[i]].name))
			continue;
		print_node(tree, order[i], out);
		matches++;
	}
	if (count)
		print_separator(out);
	return matches;
}

static int print_tree(const struct profile *profile, const struct render_options *options,
		      const struct callgraph_limits *limits, const struct pattern *only, FILE *out)
{
	struct callgraph_dropped dropped;
	struct callgraph graph = {0};
	struct tree tree = {.graph = &graph, .options = options};
	uint32_t *order = NULL;
	size_t count = 0, matches = 0;
	int err = callgraph_build_limited(profile, options->type, limits, &graph, &dropped);

	if (!err && !(order = callgraph_order(&graph, limits->sort, &count)))
		err = -ENOMEM;
	if (!err && (fan_open(&graph, true, &tree.in) || fan_open(&graph, false, &tree.out)))
		err = -ENOMEM;
	if (!err) {
		render_header(profile, options->type, &graph.total, out);
		render_shown(&graph, order, count, limits, &dropped, options->type, out);
		matches = print_nodes(&tree, order, count, only, out);
	}
	fan_close(&tree.in);
	fan_close(&tree.out);
	free(order);
	callgraph_close(&graph);
	if (!err && only && !matches)
		return render_fail(-ENODATA, "no function matches \"%s\"", options->argument);
	return render_result(err, out);
}

int render_tree(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct callgraph_limits limits = callgraph_limits_of(options, NODES_DEFAULT);

	return print_tree(profile, options, &limits, NULL, out);
}

int render_peek(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct callgraph_limits limits = {.sort = callgraph_limits_of(options, 0).sort};
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern pattern;
	int err = pattern_open(&pattern, options->argument ? options->argument : "", complaint);

	if (err == -EINVAL)
		return render_fail(err, "\"%s\" is no regular expression: %s", options->argument,
				   complaint);
	err = err ? render_result(err, out) : print_tree(profile, options, &limits, &pattern, out);
	pattern_close(&pattern);
	return err;
}
