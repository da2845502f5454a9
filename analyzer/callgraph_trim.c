/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.c - see callgraph_trim.h. The steps and figures are pprof's, so that the picture is the one people know:
 *
 * 1. drop nodes whose cumulative weight is below a fraction of the total, and build anew;
 * 2. keep the best nodes by a score that favours weight of their own and forks in the graph over functions that merely pass through; build anew;
 * 3. drop edges below a fraction of the total, and residual edges whose callee is reached by another way as well.
 */
#include "callgraph_trim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render_formats.h"

#define EDGE_FRACTION 0.001

static double entropy(double part, double whole)
{
	return part > 0 && whole > 0 ? -part / whole * log2(part / whole) : 0;
}

/* By node: cumulative weight times the entropy of the ways in and out, plus flat weight. NULL = out of memory. */
static double *score_nodes(const struct callgraph *graph)
{
	double *score = calloc(graph->node_count + 1, sizeof(*score));
	double *in = calloc(graph->node_count + 1, sizeof(*in)), *out = calloc(graph->node_count + 1, sizeof(*out));

	if (!score || !in || !out) {
		free(score);
		score = NULL;
		goto out;
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		in[graph->edge[i].callee] += graph->edge[i].weight.value;
		out[graph->edge[i].caller] += graph->edge[i].weight.value;
	}
	for (size_t i = 0; i < graph->node_count; i++) {
		const double flat = graph->node[i].flat.value;
		/* An entry has no way in, a leaf no way out: either counts as one full bit. */
		score[i] = (in[i] == 0) + (out[i] == 0 ? 1 : entropy(flat, out[i] + flat));
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct callgraph_edge *edge = &graph->edge[i];
		score[edge->callee] += entropy(edge->weight.value, in[edge->callee]);
		score[edge->caller] += entropy(edge->weight.value, out[edge->caller] + graph->node[edge->caller].flat.value);
	}
	for (size_t i = 0; i < graph->node_count; i++)
		score[i] = score[i] * graph->node[i].cum.value + graph->node[i].flat.value;
out:
	free(in);
	free(out);
	return score;
}

static int compare_scores(const void *left, const void *right, void *context)
{
	const double *score = context, a = score[*(const uint32_t *)left], b = score[*(const uint32_t *)right];

	return a > b ? -1 : a < b;
}

/* Clears keep[] for all but the best nodes. */
static int keep_best(const struct callgraph *graph, size_t limit, bool *keep)
{
	double *score = score_nodes(graph);
	size_t count = 0;
	uint32_t *order = score ? callgraph_order(graph, true, &count) : NULL;

	if (order) {
		qsort_r(order, count, sizeof(*order), compare_scores, score);
		for (size_t i = limit; i < count; i++)
			keep[order[i]] = false;
	}
	const int error = order ? 0 : -ENOMEM;
	free(order);
	free(score);
	return error;
}

static void drop_edge(struct callgraph *graph, size_t index)
{
	graph->edge[index] = graph->edge[--graph->edge_count];
}

/* Is the callee reached from the caller without this edge? Grows the set of reached nodes until nothing is added. */
static bool is_detour(const struct callgraph *graph, size_t index, bool *reached)
{
	const struct callgraph_edge *detour = &graph->edge[index];
	bool grows = true;

	memset(reached, 0, graph->node_count * sizeof(*reached));
	reached[detour->caller] = true;
	while (grows && !reached[detour->callee]) {
		grows = false;
		for (size_t i = 0; i < graph->edge_count; i++) {
			const struct callgraph_edge *edge = &graph->edge[i];
			if (i == index || !reached[edge->caller] || reached[edge->callee])
				continue;
			reached[edge->callee] = grows = true;
		}
	}
	return reached[detour->callee];
}

static int drop_edges(struct callgraph *graph)
{
	bool *reached = malloc(graph->node_count + 1);

	if (!reached)
		return -ENOMEM;
	for (size_t i = graph->edge_count; i-- > 0;) {
		if (graph->edge[i].weight.value < graph->total.value * EDGE_FRACTION)
			drop_edge(graph, i);
	}
	for (size_t i = graph->edge_count; i-- > 0;) {
		if (graph->edge[i].is_residual && is_detour(graph, i, reached))
			drop_edge(graph, i);
	}
	free(reached);
	return 0;
}

/* Takes graph over, and builds anew with what it keeps. */
static int rebuild(struct callgraph *graph, const struct profile *profile, enum sample_type type, const bool *keep)
{
	callgraph_close(graph);
	return callgraph_build(profile, type, keep, graph);
}

int callgraph_build_trimmed(const struct profile *profile, enum sample_type type, size_t node_limit, struct callgraph *out_graph)
{
	struct callgraph graph = {0};
	int error = callgraph_build(profile, type, NULL, &graph);
	bool *keep = error ? NULL : malloc(graph.node_count + 1);

	if (!keep) {
		callgraph_close(&graph);
		return -ENOMEM;
	}
	for (size_t i = 0; i < graph.node_count; i++)
		keep[i] = graph.node[i].cum.value >= graph.total.value * RENDER_NODE_FRACTION;
	error = rebuild(&graph, profile, type, keep);
	if (!error)
		error = keep_best(&graph, node_limit, keep);
	if (!error)
		error = rebuild(&graph, profile, type, keep);
	if (!error)
		error = drop_edges(&graph);
	free(keep);
	if (error)
		callgraph_close(&graph);
	else
		*out_graph = graph;
	return error;
}
