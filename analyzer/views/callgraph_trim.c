/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.c - see callgraph_trim.h. Steps 1 to 3 and their figures are pprof's, so that
 * users recognize the view:
 *
 * 1. Drop the nodes whose cumulative weight is below a fraction of the total, and rebuild.
 * 2. Keep the heaviest nodes, or in a picture those with the best score, and rebuild. The score
 *    prefers functions with flat weight, and forks in the graph, to functions that only pass
 *    weight through.
 * 3. Drop the edges below a fraction of the total, and in a picture also the residual edges whose
 *    callee is reached by other edges.
 * 4. If the rest is still more than can be drawn, keep the heaviest edges, and the heaviest edge
 *    to each node. pprof does not have this step.
 *
 * Weights may be negative in a comparison: their magnitude counts. Fractions are of the total flat
 * weight of the functions, not of the whole profile: under --focus a small part of the profile is
 * shown in as much detail as the whole profile would be.
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

/*
 * By node: cumulative weight times the entropy of the edges in and out, plus flat weight. NULL =
 * out of memory.
 */
static double *score_nodes(const struct callgraph *graph)
{
	double *score = calloc(graph->node_count + 1, sizeof(*score));
	double *in = calloc(graph->node_count + 1, sizeof(*in)),
	       *out = calloc(graph->node_count + 1, sizeof(*out));

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
		/*
		 * A node without edges in, or without edges out, gets one full bit for that side.
		 */
		score[i] = (in[i] == 0) + (out[i] == 0 ? 1 : entropy(flat, out[i] + flat));
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct callgraph_edge *edge = &graph->edge[i];
		const double weight = fabs(edge->weight.value);
		score[edge->callee] += entropy(weight, in[edge->callee]);
		score[edge->caller] += entropy(
			weight, out[edge->caller] + fabs(graph->node[edge->caller].flat.value));
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
	const double *score = context, a = score[*(const uint32_t *)left],
		     b = score[*(const uint32_t *)right];

	return a > b ? -1 : a < b;
}

/* Clears keep[] for all but the best nodes; those in which all cancels out are none of them. */
static int keep_best(const struct callgraph *graph, const struct callgraph_limits *limits,
		     bool *keep)
{
	double *score = limits->is_picture ? score_nodes(graph) : NULL;
	size_t count = 0;
	uint32_t *order =
		limits->is_picture && !score
			? NULL
			: callgraph_order(graph,
					  limits->is_picture ? CALLGRAPH_BY_CUM : limits->sort,
					  &count);

	if (order && score)
		qsort_r(order, count, sizeof(*order), compare_scores, score);
	if (order)
		memset(keep, 0, graph->node_count * sizeof(*keep));
	for (size_t i = 0; order && i < count && i < limits->nodes; i++)
		keep[order[i]] = true;
	const int err = order ? 0 : -ENOMEM;
	free(order);
	free(score);
	return err;
}

/*
 * The flat and cumulative weights by function: the graph without its edges. Edges take most of the
 * time to count, and few of them remain.
 */
struct weights {
	double *flat, *cum;
	uint32_t *row; /* the last row that counted in cum, from 1 */
	size_t count;
};

static void weights_close(struct weights *weights)
{
	free(weights->flat);
	free(weights->cum);
	free(weights->row);
}

/* calls: of the row's stack, leaf first. */
static void weigh_row(const struct functions *functions, const uint32_t *calls, size_t count,
		      uint32_t row, double value, struct weights *weights)
{
	for (size_t i = count; i-- > 0;) {
		const uint32_t function = functions->call[calls[i]].function;

		if (weights->row[function] == row)
			continue;
		weights->row[function] = row;
		weights->cum[function] += value;
	}
	if (count)
		weights->flat[functions->call[calls[0]].function] += value;
}

/* Returns 0 or -ENOMEM. The caller closes *out_weights in either case. */
static int weights_open(const struct profile *profile, enum sample_type type,
			const struct functions *functions, const struct user_frames *fold,
			struct weights *out_weights)
{
	*out_weights = (struct weights){
		.flat = calloc(functions->count + 1, sizeof(double)),
		.cum = calloc(functions->count + 1, sizeof(double)),
		.row = calloc(functions->count + 1, sizeof(uint32_t)),
		.count = functions->count,
	};
	if (!out_weights->flat || !out_weights->cum || !out_weights->row)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		const double value = estimate_of(profile, &profile->row[i], type).value;
		size_t count;

		if (value == 0)
			continue;
		const uint32_t *calls = callgraph_unfold(profile, functions, fold,
							 profile->row[i].key.stack, &count);
		weigh_row(functions, calls, count, (uint32_t)i + 1, value, out_weights);
	}
	return 0;
}

/* As pprof has it: below zero by itself, or nothing by itself and below zero with what it calls. */
static bool is_dropped(const struct weights *weights, const struct callgraph_limits *limits,
		       size_t index)
{
	const double flat = round(weights->flat[index]), cum = round(weights->cum[index]);

	return limits->drop_negative && (flat < 0 || (flat == 0 && cum < 0));
}

/* A fraction of the flat weight of all functions, in whole bytes or objects. */
static double cutoff_of(const struct weights *weights, const struct callgraph_limits *limits,
			double fraction)
{
	double flat = 0;

	for (size_t i = 0; i < weights->count; i++)
		flat += is_dropped(weights, limits, i) ? 0 : round(weights->flat[i]);
	return floor(fabs(flat) * fraction);
}

/* Sets keep[], and counts what is too light; what is below zero is not counted. */
static void drop_light_nodes(const struct weights *weights, const struct callgraph_limits *limits,
			     bool *keep, struct callgraph_dropped *dropped)
{
	const double cutoff = cutoff_of(weights, limits, limits->node_fraction);

	for (size_t i = 0; i < weights->count; i++) {
		keep[i] = !is_dropped(weights, limits, i);
		if (!keep[i])
			continue;
		keep[i] = fabs(round(weights->cum[i])) >= cutoff;
		if (llround(weights->flat[i]) != 0 || llround(weights->cum[i]) != 0) {
			dropped->nodes += !keep[i];
			dropped->candidates += keep[i];
		}
	}
}

/* ---- the steps ------------------------------------------------------------------------------- */

static int trim_edges(struct callgraph *graph, const struct callgraph_limits *limits, double cutoff,
		      struct callgraph_dropped *dropped)
{
	int err = 0;

	dropped->edges = callgraph_drop_light_edges(graph, cutoff);
	if (limits->room.edges)
		err = callgraph_fit_edges(graph,
					  &(struct callgraph_room){.edges = CALLGRAPH_DETOURS_MAX,
								   .length = SIZE_MAX},
					  &dropped->fitted);
	if (!err && limits->is_picture)
		err = callgraph_drop_detours(graph);
	if (!err && limits->room.edges)
		err = callgraph_fit_edges(graph, &limits->room, &dropped->fitted);
	return err ? err : callgraph_note_inlining(graph);
}

/* graph: only its `functions` are set. */
static int trim(struct callgraph *graph, const struct profile *profile, enum sample_type type,
		const struct callgraph_limits *limits, struct callgraph_dropped *dropped)
{
	bool *keep = malloc(graph->functions.count + 1);
	struct weights weights;
	double edge_cutoff = 0;
	int err = weights_open(profile, type, &graph->functions, limits->fold, &weights);

	if (!err && !keep)
		err = -ENOMEM;
	if (!err) {
		drop_light_nodes(&weights, limits, keep, dropped);
		edge_cutoff = cutoff_of(&weights, limits, limits->edge_fraction);
	}
	weights_close(&weights);
	if (!err)
		err = callgraph_rebuild(profile, type, limits->fold,
					dropped->nodes || limits->drop_negative ? keep : NULL,
					graph);
	if (!err && limits->nodes && limits->nodes < dropped->candidates) {
		callgraph_drop_light_edges(graph, edge_cutoff);
		err = keep_best(graph, limits, keep);
		if (!err)
			err = callgraph_rebuild(profile, type, limits->fold, keep, graph);
	}
	free(keep);
	return err ? err : trim_edges(graph, limits, edge_cutoff, dropped);
}

struct callgraph_limits callgraph_limits_of(const struct render_options *options, size_t nodes)
{
	struct callgraph_limits limits = {.sort = options->sort == SORT_CUM ? CALLGRAPH_BY_CUM
									    : CALLGRAPH_BY_FLAT};

	limits.drop_negative = options->drop_negative;
	if (options->no_trim)
		return limits;
	limits.nodes = options->limit ? options->limit : nodes;
	limits.node_fraction = options->node_fraction != 0 ? fmax(0, options->node_fraction)
							   : CALLGRAPH_NODE_FRACTION;
	limits.edge_fraction = options->edge_fraction != 0 ? fmax(0, options->edge_fraction)
							   : CALLGRAPH_EDGE_FRACTION;
	return limits;
}

int callgraph_build_limited(const struct profile *profile, enum sample_type type,
			    const struct callgraph_limits *limits, struct callgraph *out_graph,
			    struct callgraph_dropped *out_dropped)
{
	struct callgraph_dropped dropped = {0};
	struct callgraph graph = {0};
	int err = functions_open(profile, &graph.functions);

	if (!err)
		err = trim(&graph, profile, type, limits, &dropped);
	if (err) {
		callgraph_close(&graph);
		return err;
	}
	*out_graph = graph;
	if (out_dropped)
		*out_dropped = dropped;
	return 0;
}
