/* SPDX-License-Identifier: MIT */
/*
 * callgraph.c - see callgraph.h. The rules are those of pprof, so that the figures agree with
 * pprof's.
 */
#include "callgraph.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct callgraph graph;
	const struct profile *profile;
	const struct user_frames *fold; /* NULL = count all calls */
	const bool *keep;
	uint32_t round;       /* one per row, from 1 */
	double divisor;       /* of the row; 0 = means are not wanted */
	uint32_t *node_round; /* round in which a node was counted last */
	uint32_t *edge_round;
	double *call_weight; /* by functions.call[], to find each function's most expensive call */
	size_t edge_room, edge_round_room;
	struct table edges;
};

static int edge_between(struct builder *builder, uint32_t caller, uint32_t callee,
			uint32_t *out_edge)
{
	struct callgraph *graph = &builder->graph;
	const uint64_t hash = hash_number((uint64_t)caller << 32 | callee);
	struct table_cursor cursor = table_seek(&builder->edges, hash);

	while (table_next(&builder->edges, &cursor, out_edge)) {
		if (graph->edge[*out_edge].caller == caller &&
		    graph->edge[*out_edge].callee == callee)
			return 0;
	}
	if (array_reserve(&graph->edge, &builder->edge_room, graph->edge_count,
			  sizeof(*graph->edge)) ||
	    array_reserve(&builder->edge_round, &builder->edge_round_room, graph->edge_count,
			  sizeof(*builder->edge_round)) ||
	    table_add(&builder->edges, hash, (uint32_t)graph->edge_count))
		return -ENOMEM;
	*out_edge = (uint32_t)graph->edge_count++;
	graph->edge[*out_edge] = (struct callgraph_edge){
		.caller = caller, .callee = callee, .is_inline = true, .is_residual = true};
	builder->edge_round[*out_edge] = 0;
	return 0;
}

/* Counts the edge from the caller to this call, once per row. */
static int count_edge(struct builder *builder, uint32_t caller, const struct function_call *call,
		      bool is_residual, const struct estimate *weight)
{
	uint32_t index;

	if (caller == call->function)
		return 0;
	if (edge_between(builder, caller, call->function, &index))
		return -ENOMEM;
	if (builder->edge_round[index] == builder->round)
		return 0;
	struct callgraph_edge *edge = &builder->graph.edge[index];
	edge->is_inline &= call->is_inline;
	edge->is_residual &= is_residual;
	estimate_add(&edge->weight, weight);
	edge->divisor += builder->divisor;
	builder->edge_round[index] = builder->round;
	return 0;
}

static void count_node(struct builder *builder, uint32_t function, const struct estimate *weight)
{
	if (builder->node_round[function] == builder->round)
		return;
	estimate_add(&builder->graph.node[function].cum, weight);
	builder->graph.node[function].cum_divisor += builder->divisor;
	builder->node_round[function] = builder->round;
}

const uint32_t *callgraph_unfold(const struct profile *profile, const struct functions *functions,
				 const struct user_frames *fold, uint32_t stack, size_t *out_count)
{
	return fold ? user_frames_unfold(fold, stack, out_count)
		    : functions_unfold(functions, &profile->stack[stack], out_count);
}

/* Counts a stack from the root to the leaf. */
static int count_stack(struct builder *builder, uint32_t stack, const struct estimate *weight)
{
	const struct functions *functions = &builder->graph.functions;
	bool has_caller = false, is_residual = false;
	uint32_t caller = 0;
	size_t count;
	const uint32_t *calls =
		callgraph_unfold(builder->profile, functions, builder->fold, stack, &count);

	while (count-- > 0) {
		const struct function_call *call = &functions->call[calls[count]];
		if (builder->keep && !builder->keep[call->function]) {
			is_residual = true;
			continue;
		}
		builder->call_weight[calls[count]] += weight->value;
		count_node(builder, call->function, weight);
		if (has_caller && count_edge(builder, caller, call, is_residual, weight))
			return -ENOMEM;
		caller = call->function;
		has_caller = true;
		is_residual = false;
	}
	if (has_caller && !is_residual) {
		estimate_add(&builder->graph.node[caller].flat, weight);
		builder->graph.node[caller].flat_divisor += builder->divisor;
	}
	return 0;
}

/* Returns false if the row has nothing that counts. *out_divisor: 0 = means are not wanted. */
static bool weigh_row(const struct profile *profile, const struct profile_row *row,
		      enum sample_type type, struct estimate *out_weight, double *out_divisor)
{
	*out_weight = estimate_of(profile, row, type);
	*out_divisor = profile->meta.is_mean
			       ? estimate_of(profile, row, estimate_first_type(profile)).value
			       : 0;
	return out_weight->value != 0 || *out_divisor != 0;
}

static int count_rows(struct builder *builder, enum sample_type type)
{
	const struct profile *profile = builder->profile;
	struct estimate weight;

	for (size_t i = 0; i < profile->row_count; i++) {
		if (!weigh_row(profile, &profile->row[i], type, &weight, &builder->divisor))
			continue;
		builder->round++;
		builder->graph.divisor += builder->divisor;
		if (count_stack(builder, profile->row[i].key.stack, &weight))
			return -ENOMEM;
	}
	return 0;
}

bool callgraph_has(const struct callgraph_node *node)
{
	return llround(node->flat.value) != 0 || llround(node->cum.value) != 0;
}

double callgraph_flat(const struct callgraph_node *node)
{
	return estimate_mean(node->flat.value, node->flat_divisor);
}

double callgraph_cum(const struct callgraph_node *node)
{
	return estimate_mean(node->cum.value, node->cum_divisor);
}

double callgraph_weight(const struct callgraph_edge *edge)
{
	return estimate_mean(edge->weight.value, edge->divisor);
}

double callgraph_percent_base(const struct profile *profile, enum sample_type type, double sum,
			      double divisor)
{
	const struct profile_meta *meta = &profile->meta;
	const bool is_known = meta->percent_base[type] != 0;

	return estimate_mean(is_known ? meta->percent_base[type] : sum,
			     !meta->is_mean ? 0
			     : is_known     ? meta->percent_divisor
					    : divisor);
}

int callgraph_note_inlining(struct callgraph *graph)
{
	bool *called_outright = calloc(graph->node_count + 1, sizeof(*called_outright));

	if (!called_outright)
		return -ENOMEM;
	for (size_t i = 0; i < graph->node_count; i++)
		graph->node[i].inlining = INLINE_NEVER;
	for (size_t i = 0; i < graph->edge_count; i++) {
		if (graph->edge[i].is_inline)
			graph->node[graph->edge[i].callee].inlining = INLINE_ALWAYS;
		else
			called_outright[graph->edge[i].callee] = true;
	}
	for (size_t i = 0; i < graph->node_count; i++) {
		if (called_outright[i] && graph->node[i].inlining == INLINE_ALWAYS)
			graph->node[i].inlining = INLINE_SOMETIMES;
	}
	free(called_outright);
	return 0;
}

/*
 * Sets the nodes' source positions. best: by node, the weight of the call that gave the current
 * position.
 */
static void note_places(struct builder *builder, double *best)
{
	const struct functions *functions = &builder->graph.functions;

	for (uint32_t i = 0; i < functions->first[builder->profile->frame_count]; i++) {
		const struct function_call *call = &functions->call[i];
		struct callgraph_node *node = &builder->graph.node[call->function];
		if (!call->file || fabs(builder->call_weight[i]) <= best[call->function])
			continue;
		best[call->function] = fabs(builder->call_weight[i]);
		node->file = call->file;
		node->line = call->line;
	}
}

/* The caller has already set graph.functions. */
static int build(struct builder *builder, enum sample_type type)
{
	const struct profile *profile = builder->profile;
	struct callgraph *graph = &builder->graph;
	int err;

	graph->granularity = profile->meta.granularity;
	graph->slack_samples = profile->meta.slack_samples;
	graph->total = estimate_total(profile, type);
	graph->node_count = graph->functions.count;
	graph->node = calloc(graph->node_count + 1, sizeof(*graph->node));
	builder->node_round = calloc(graph->node_count + 1, sizeof(*builder->node_round));
	builder->call_weight = calloc(graph->functions.first[profile->frame_count] + (size_t)1,
				      sizeof(*builder->call_weight));
	double *best = calloc(graph->node_count + 1, sizeof(*best));
	err = graph->node && builder->node_round && builder->call_weight && best ? 0 : -ENOMEM;
	for (size_t i = 0; i < graph->node_count && !err; i++)
		graph->node[i].name = graph->functions.name[i];
	if (!err)
		err = count_rows(builder, type);
	graph->percent_base =
		callgraph_percent_base(profile, type, graph->total.value, graph->divisor);
	if (!err)
		err = callgraph_note_inlining(graph);
	if (!err)
		note_places(builder, best);
	free(best);
	return err;
}

/*
 * Builds what the builder is set up for, over the functions that its graph already has, and closes
 * it.
 */
static int build_with(struct builder builder, enum sample_type type, struct callgraph *out_graph)
{
	const int err = build(&builder, type);

	free(builder.node_round);
	free(builder.edge_round);
	free(builder.call_weight);
	table_close(&builder.edges);
	if (err)
		callgraph_close(&builder.graph);
	else
		*out_graph = builder.graph;
	return err;
}

int callgraph_build(const struct profile *profile, enum sample_type type, const bool *keep,
		    struct callgraph *out_graph)
{
	struct functions functions;
	const int err = functions_open(profile, &functions);

	return err ? err
		   : build_with((struct builder){.graph.functions = functions,
						 .profile = profile,
						 .keep = keep},
				type, out_graph);
}

int callgraph_rebuild(const struct profile *profile, enum sample_type type,
		      const struct user_frames *fold, const bool *keep, struct callgraph *graph)
{
	const struct builder builder = {.graph.functions = graph->functions,
					.profile = profile,
					.fold = fold,
					.keep = keep};

	graph->functions = (struct functions){0};
	callgraph_close(graph);
	return build_with(builder, type, graph);
}

void callgraph_close(struct callgraph *graph)
{
	functions_close(&graph->functions);
	free(graph->node);
	free(graph->edge);
	*graph = (struct callgraph){0};
}

/* Compares magnitudes in whole numbers: fractions of bytes must not decide the order. */
static int compare(double left, double right)
{
	const double a = fabs(round(left)), b = fabs(round(right));

	return a > b ? -1 : a < b;
}

static int compare_flat(const void *left, const void *right, void *context)
{
	const struct callgraph *graph = context;
	const struct callgraph_node *a = &graph->node[*(const uint32_t *)left],
				    *b = &graph->node[*(const uint32_t *)right];
	const int order = compare(a->flat.value, b->flat.value);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_cum(const void *left, const void *right, void *context)
{
	const struct callgraph *graph = context;
	const struct callgraph_node *a = &graph->node[*(const uint32_t *)left],
				    *b = &graph->node[*(const uint32_t *)right];
	const int order = compare(a->cum.value, b->cum.value);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_flat_and_cum(const void *left, const void *right, void *context)
{
	const struct callgraph *graph = context;
	const struct callgraph_node *a = &graph->node[*(const uint32_t *)left],
				    *b = &graph->node[*(const uint32_t *)right];
	const int order = compare(a->flat.value, b->flat.value);

	return order ? order : compare_cum(left, right, context);
}

uint32_t *callgraph_order(const struct callgraph *graph, enum callgraph_sort sort,
			  size_t *out_count)
{
	static int (*const compares[])(const void *, const void *, void *) = {
		[CALLGRAPH_BY_FLAT] = compare_flat,
		[CALLGRAPH_BY_CUM] = compare_cum,
		[CALLGRAPH_BY_FLAT_AND_CUM] = compare_flat_and_cum,
	};
	uint32_t *order = malloc((graph->node_count + 1) * sizeof(*order));
	size_t count = 0;

	if (!order)
		return NULL;
	for (size_t i = 0; i < graph->node_count; i++) {
		if (callgraph_has(&graph->node[i]))
			order[count++] = (uint32_t)i;
	}
	qsort_r(order, count, sizeof(*order), compares[sort], (void *)(uintptr_t)graph);
	*out_count = count;
	return order;
}
