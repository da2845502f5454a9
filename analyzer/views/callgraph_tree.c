/* SPDX-License-Identifier: MIT */
/*
 * callgraph_tree.c - see callgraph_tree.h. The nodes are those of calltree.h, with the same
 * numbers; the root, which is no function, and what is left out have no weight, so they are not
 * drawn. What a node that is left out calls is called by its nearest caller that is there.
 */
#include "callgraph_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "calltree.h"

#define NODES_MAX (1u << 20)

/* A fraction of the weight of all nodes by themselves, in whole bytes or objects. */
static double cutoff_of(const struct calltree *tree, enum sample_type type, double fraction)
{
	double flat = 0;

	for (size_t i = 1; i < tree->count; i++)
		flat += round(tree->node[i].self[type].value);
	return floor(fabs(flat) * fraction);
}

/* Sets keep[], by node, and counts what is too light. */
static void drop_light(const struct calltree *tree, enum sample_type type,
		       const struct callgraph_limits *limits, bool *keep,
		       struct callgraph_dropped *dropped)
{
	const double cutoff = cutoff_of(tree, type, limits->node_fraction);

	for (size_t i = 1; i < tree->count; i++) {
		const double flat = round(tree->node[i].self[type].value),
			     cum = round(tree->node[i].total[type].value);
		const bool is_negative =
			limits->drop_negative && (flat < 0 || (flat == 0 && cum < 0));

		keep[i] = fabs(cum) >= cutoff && !is_negative && (flat != 0 || cum != 0) &&
			  tree->node[i].function != CALLTREE_OTHER;
		dropped->candidates += keep[i];
		dropped->nodes += fabs(cum) < cutoff && (flat != 0 || cum != 0);
	}
}

struct order {
	const struct calltree *tree;
	enum sample_type type;
};

static int compare_weights(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const double weight_a = fabs(order->tree->node[a].total[order->type].value),
		     weight_b = fabs(order->tree->node[b].total[order->type].value);

	if (weight_a != weight_b)
		return weight_a > weight_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Clears keep[] for all but the heaviest. */
static int keep_heaviest(const struct calltree *tree, enum sample_type type, size_t limit,
			 bool *keep)
{
	struct order order = {.tree = tree, .type = type};
	uint32_t *node = malloc((tree->count + 1) * sizeof(*node));
	size_t count = 0;

	if (!node)
		return -ENOMEM;
	for (size_t i = 1; i < tree->count; i++) {
		if (keep[i])
			node[count++] = (uint32_t)i;
	}
	qsort_r(node, count, sizeof(*node), compare_weights, &order);
	for (size_t i = limit; i < count; i++)
		keep[node[i]] = false;
	free(node);
	return 0;
}

static int fill(const struct calltree *tree, enum sample_type type, const bool *keep,
		struct callgraph *graph)
{
	graph->node = calloc(tree->count + 1, sizeof(*graph->node));
	graph->edge = calloc(tree->count + 1, sizeof(*graph->edge));
	if (!graph->node || !graph->edge)
		return -ENOMEM;
	graph->node_count = tree->count;
	for (size_t i = 1; i < tree->count; i++) {
		const struct calltree_node *node = &tree->node[i];
		uint32_t caller = node->parent;

		if (!keep[i])
			continue;
		graph->node[i] = (struct callgraph_node){.name = calltree_name(tree, node),
							 .file = tree->place[node->function].file,
							 .flat = node->self[type],
							 .cum = node->total[type]};
		while (caller && !keep[caller])
			caller = tree->node[caller].parent;
		if (caller)
			graph->edge[graph->edge_count++] =
				(struct callgraph_edge){.caller = caller,
							.callee = (uint32_t)i,
							.weight = node->total[type],
							.is_residual = caller != node->parent};
	}
	return 0;
}

/* Sets what means are divided by. */
static void divide(const struct calltree *tree, enum sample_type by, struct callgraph *graph)
{
	for (size_t i = 1; i < graph->node_count; i++) {
		graph->node[i].flat_divisor = tree->node[i].self[by].value;
		graph->node[i].cum_divisor = tree->node[i].total[by].value;
	}
	for (size_t i = 0; i < graph->edge_count; i++)
		graph->edge[i].divisor = graph->node[graph->edge[i].callee].cum_divisor;
}

static int build(const struct calltree *tree, enum sample_type type,
		 const struct callgraph_limits *limits, struct callgraph *graph,
		 struct callgraph_dropped *dropped)
{
	bool *keep = calloc(tree->count + 1, sizeof(*keep));
	int err = keep ? 0 : -ENOMEM;

	if (!err)
		drop_light(tree, type, limits, keep, dropped);
	if (!err && limits->nodes && limits->nodes < dropped->candidates)
		err = keep_heaviest(tree, type, limits->nodes, keep);
	if (!err)
		err = fill(tree, type, keep, graph);
	if (!err)
		dropped->edges = callgraph_drop_light_edges(
			graph, cutoff_of(tree, type, limits->edge_fraction));
	free(keep);
	return err;
}

int callgraph_build_tree(const struct profile *profile, enum sample_type type,
			 const struct callgraph_limits *limits, struct callgraph *out_graph,
			 struct callgraph_dropped *out_dropped)
{
	const struct calltree_options options = {
		.type = type, .is_only_type = true, .limit = NODES_MAX};
	struct callgraph graph = {.granularity = profile->meta.granularity,
				  .slack_samples = profile->meta.slack_samples};
	const enum sample_type first = estimate_first_type(profile);
	struct callgraph_dropped dropped = {0};
	struct calltree tree;
	int err = calltree_open(profile, &options, &tree);

	if (err)
		return err;
	graph.total = estimate_total(profile, type);
	graph.divisor = tree.node[0].total[first].value;
	graph.percent_base =
		callgraph_percent_base(profile, type, graph.total.value, graph.divisor);
	err = build(&tree, type, limits, &graph, &dropped);
	if (!err && profile->meta.is_mean)
		divide(&tree, first, &graph);
	/* the names of the nodes are there */
	graph.functions = tree.functions;
	tree.functions = (struct functions){0};
	calltree_close(&tree);
	if (err) {
		callgraph_close(&graph);
		return err;
	}
	*out_graph = graph;
	*out_dropped = dropped;
	return 0;
}
