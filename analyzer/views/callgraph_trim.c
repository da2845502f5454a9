/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.c - see callgraph_trim.h. The steps and figures are pprof's, so that the view is the one people know:
 *
 * 1. drop nodes whose cumulative weight is below a fraction of the total, and build anew;
 * 2. keep the heaviest nodes, or in a picture the best by a score that favours weight of their own and forks in the graph over functions that merely pass
 *    through; build anew;
 * 3. drop edges below a fraction of the total, and in a picture residual edges whose callee is reached by another way as well.
 *
 * Weights may be negative in a comparison: what counts is how much they are. Fractions are of what the functions have themselves, not of the whole: under
 * --focus a small part of the profile is shown as fully as the whole would be.
 */
#include "callgraph_trim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"

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
		in[graph->edge[i].callee] += fabs(graph->edge[i].weight.value);
		out[graph->edge[i].caller] += fabs(graph->edge[i].weight.value);
	}
	for (size_t i = 0; i < graph->node_count; i++) {
		const double flat = fabs(graph->node[i].flat.value);
		/* An entry has no way in, a leaf no way out: either counts as one full bit. */
		score[i] = (in[i] == 0) + (out[i] == 0 ? 1 : entropy(flat, out[i] + flat));
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct callgraph_edge *edge = &graph->edge[i];
		const double weight = fabs(edge->weight.value);
		score[edge->callee] += entropy(weight, in[edge->callee]);
		score[edge->caller] += entropy(weight, out[edge->caller] + fabs(graph->node[edge->caller].flat.value));
	}
	for (size_t i = 0; i < graph->node_count; i++)
		score[i] = fabs(score[i] * graph->node[i].cum.value + graph->node[i].flat.value);
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
static int keep_best(const struct callgraph *graph, const struct callgraph_limits *limits, bool *keep)
{
	double *score = limits->is_picture ? score_nodes(graph) : NULL;
	size_t count = 0;
	uint32_t *order = limits->is_picture && !score ? NULL : callgraph_order(graph, limits->is_picture || limits->by_cum, &count);

	if (order && score)
		qsort_r(order, count, sizeof(*order), compare_scores, score);
	for (size_t i = limits->nodes; order && i < count; i++)
		keep[order[i]] = false;
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

/* What has come to nothing in a comparison goes in any case. */
static size_t drop_light_edges(struct callgraph *graph, double cutoff)
{
	size_t dropped = 0;

	cutoff = fmax(cutoff, 1);
	for (size_t i = graph->edge_count; i-- > 0;) {
		if (fabs(round(graph->edge[i].weight.value)) < cutoff) {
			drop_edge(graph, i);
			dropped++;
		}
	}
	return dropped;
}

static int drop_detours(struct callgraph *graph)
{
	bool *reached = malloc(graph->node_count + 1);

	if (!reached)
		return -ENOMEM;
	for (size_t i = graph->edge_count; i-- > 0;) {
		if (graph->edge[i].is_residual && is_detour(graph, i, reached))
			drop_edge(graph, i);
	}
	free(reached);
	return 0;
}

/* A part of what all functions have themselves, in whole bytes or objects. */
static double cutoff_of(const struct callgraph *graph, double fraction)
{
	double flat = 0;

	for (size_t i = 0; i < graph->node_count; i++)
		flat += round(graph->node[i].flat.value);
	return floor(fabs(flat) * fraction);
}

static size_t drop_light_nodes(const struct callgraph *graph, double cutoff, bool *keep, size_t *out_kept)
{
	size_t dropped = 0;

	*out_kept = 0;
	for (size_t i = 0; i < graph->node_count; i++) {
		keep[i] = fabs(round(graph->node[i].cum.value)) >= cutoff;
		if (callgraph_has(&graph->node[i])) {
			dropped += !keep[i];
			*out_kept += keep[i];
		}
	}
	return dropped;
}

static int trim(struct callgraph *graph, const struct profile *profile, enum sample_type type, const struct callgraph_limits *limits,
		struct callgraph_dropped *dropped)
{
	const double node_cutoff = cutoff_of(graph, limits->node_fraction), edge_cutoff = cutoff_of(graph, limits->edge_fraction);
	bool *keep = malloc(graph->node_count + 1);
	int error = keep ? 0 : -ENOMEM;

	if (!error) {
		dropped->nodes = drop_light_nodes(graph, node_cutoff, keep, &dropped->candidates);
		error = dropped->nodes ? callgraph_rebuild(profile, type, keep, graph) : 0;
	}
	if (!error && limits->nodes && limits->nodes < dropped->candidates) {
		drop_light_edges(graph, edge_cutoff);
		error = keep_best(graph, limits, keep);
		if (!error)
			error = callgraph_rebuild(profile, type, keep, graph);
	}
	free(keep);
	if (error)
		return error;
	dropped->edges = drop_light_edges(graph, edge_cutoff);
	if (limits->is_picture && drop_detours(graph))
		return -ENOMEM;
	return callgraph_note_inlining(graph);
}

struct callgraph_limits callgraph_limits_of(const struct render_options *options, size_t nodes)
{
	struct callgraph_limits limits = {.by_cum = options->sort == SORT_CUM};

	if (options->no_trim)
		return limits;
	limits.nodes = options->limit ? options->limit : nodes;
	limits.node_fraction = options->node_fraction != 0 ? fmax(0, options->node_fraction) : CALLGRAPH_NODE_FRACTION;
	limits.edge_fraction = options->edge_fraction != 0 ? fmax(0, options->edge_fraction) : CALLGRAPH_EDGE_FRACTION;
	return limits;
}

int callgraph_build_limited(const struct profile *profile, enum sample_type type, const struct callgraph_limits *limits, struct callgraph *out_graph,
			    struct callgraph_dropped *out_dropped)
{
	struct callgraph_dropped dropped = {0};
	struct callgraph graph = {0};
	int error = callgraph_build(profile, type, NULL, &graph);

	if (!error)
		error = trim(&graph, profile, type, limits, &dropped);
	if (error) {
		callgraph_close(&graph);
		return error;
	}
	*out_graph = graph;
	if (out_dropped)
		*out_dropped = dropped;
	return 0;
}
