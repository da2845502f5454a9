/* SPDX-License-Identifier: MIT */
/* callgraph_edges.c - see callgraph_edges.h. */
#include "callgraph_edges.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void drop_edge(struct callgraph *graph, size_t index)
{
	graph->edge[index] = graph->edge[--graph->edge_count];
}

/*
 * Removes the edges that are not kept. The others stay in their order. Returns how many were
 * removed.
 */
static size_t keep_edges(struct callgraph *graph, const bool *keep)
{
	const size_t count = graph->edge_count;

	graph->edge_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (keep[i])
			graph->edge[graph->edge_count++] = graph->edge[i];
	}
	return count - graph->edge_count;
}

size_t callgraph_drop_light_edges(struct callgraph *graph, double cutoff)
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

/* ---- detours --------------------------------------------------------------------------------- */

/* The edges by caller, and the state of a search along them. */
struct ways {
	uint32_t *first;        /* by node: its first index in edge[]; the next node's is its end */
	uint32_t *edge, *queue; /* queue: the nodes reached so far */
	uint32_t *reached;      /* by node: the last search that reached it */
	bool *keep;             /* by edge */
};

static void ways_close(struct ways *ways)
{
	free(ways->first);
	free(ways->edge);
	free(ways->queue);
	free(ways->reached);
	free(ways->keep);
}

/* Returns 0 or -ENOMEM. The caller closes *out_ways in either case. */
static int ways_open(const struct callgraph *graph, struct ways *out_ways)
{
	*out_ways = (struct ways){
		.first = calloc(graph->node_count + 2, sizeof(uint32_t)),
		.edge = malloc((graph->edge_count + 1) * sizeof(uint32_t)),
		.queue = malloc((graph->node_count + 1) * sizeof(uint32_t)),
		.reached = calloc(graph->node_count + 1, sizeof(uint32_t)),
		.keep = malloc(graph->edge_count + 1),
	};
	if (!out_ways->first || !out_ways->edge || !out_ways->queue || !out_ways->reached ||
	    !out_ways->keep)
		return -ENOMEM;
	memset(out_ways->keep, true, graph->edge_count + 1);
	for (size_t i = 0; i < graph->edge_count; i++)
		out_ways->first[graph->edge[i].caller + 2]++;
	for (size_t i = 2; i < graph->node_count + 2; i++)
		out_ways->first[i] += out_ways->first[i - 1];
	for (size_t i = 0; i < graph->edge_count; i++)
		out_ways->edge[out_ways->first[graph->edge[i].caller + 1]++] = (uint32_t)i;
	return 0;
}

/* True if the callee is reached from the caller without this edge. */
static bool is_detour(const struct callgraph *graph, struct ways *ways, uint32_t index)
{
	const struct callgraph_edge *detour = &graph->edge[index];
	const uint32_t search = index + 1;
	size_t count = 0;

	ways->queue[count++] = detour->caller;
	ways->reached[detour->caller] = search;
	for (size_t at = 0; at < count; at++) {
		for (uint32_t i = ways->first[ways->queue[at]];
		     i < ways->first[ways->queue[at] + 1]; i++) {
			const uint32_t edge = ways->edge[i], node = graph->edge[edge].callee;

			if (edge == index || !ways->keep[edge] || ways->reached[node] == search)
				continue;
			if (node == detour->callee)
				return true;
			ways->reached[node] = search;
			ways->queue[count++] = node;
		}
	}
	return false;
}

int callgraph_drop_detours(struct callgraph *graph)
{
	struct ways ways;
	int err;

	if (graph->edge_count > CALLGRAPH_DETOURS_MAX)
		return 0;
	err = ways_open(graph, &ways);
	for (size_t i = graph->edge_count; i-- > 0 && !err;)
		ways.keep[i] = !graph->edge[i].is_residual || !is_detour(graph, &ways, (uint32_t)i);
	if (!err)
		keep_edges(graph, ways.keep);
	ways_close(&ways);
	return err;
}

/* ---- the heaviest ---------------------------------------------------------------------------- */

static int compare_edges(const void *left, const void *right, void *context)
{
	const struct callgraph *graph = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const double a_size = fabs(graph->edge[a].weight.value),
		     b_size = fabs(graph->edge[b].weight.value);

	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return a < b ? -1 : a > b;
}

/*
 * order[] is sorted, heaviest first. Keeps the first edge to each node, even beyond `limit`, so
 * that no node is isolated. Then keeps the first of the others until `limit` edges are kept.
 */
static void choose_edges(const struct callgraph *graph, const uint32_t *order, size_t limit,
			 bool *is_called, bool *keep)
{
	size_t kept = 0;

	memset(is_called, false, graph->node_count);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const uint32_t callee = graph->edge[order[i]].callee;

		keep[order[i]] = !is_called[callee];
		kept += !is_called[callee];
		is_called[callee] = true;
	}
	for (size_t i = 0; i < graph->edge_count && kept < limit; i++) {
		kept += !keep[order[i]];
		keep[order[i]] = true;
	}
}

/* ---- how long they are ----------------------------------------------------------------------- */

/* A depth-first search from callers to callees, without recursion. */
struct search {
	struct ways ways;
	uint32_t *next; /* by node: which of its edges to follow next */
	/*
	 * the nodes in the order in which the search left them: callees first, except on calls back
	 * to a node of the current path
	 */
	uint32_t *order;
	uint32_t *rank;
	uint8_t *state; /* 0 = not yet seen, ENTERED, LEFT */
	size_t count;
};
enum { ENTERED = 1, LEFT };

static void search_close(struct search *search)
{
	ways_close(&search->ways);
	free(search->next);
	free(search->order);
	free(search->rank);
	free(search->state);
}

static int search_open(const struct callgraph *graph, struct search *out_search)
{
	*out_search = (struct search){
		.next = malloc((graph->node_count + 1) * sizeof(uint32_t)),
		.order = malloc((graph->node_count + 1) * sizeof(uint32_t)),
		.rank = malloc((graph->node_count + 1) * sizeof(uint32_t)),
		.state = malloc(graph->node_count + 1),
	};
	const int err = ways_open(graph, &out_search->ways);

	return out_search->next && out_search->order && out_search->rank && out_search->state
		       ? err
		       : -ENOMEM;
}

/* The next node to enter from this one. False: there is none. */
static bool step(const struct callgraph *graph, struct search *search, uint32_t node,
		 uint32_t *out_callee)
{
	while (search->next[node] < search->ways.first[node + 1]) {
		const uint32_t edge = search->ways.edge[search->next[node]++];

		*out_callee = graph->edge[edge].callee;
		if (search->ways.keep[edge] && !search->state[*out_callee])
			return true;
	}
	return false;
}

static void search_from(const struct callgraph *graph, struct search *search, uint32_t node)
{
	uint32_t *path = search->ways.queue, callee;
	size_t depth = 0;

	if (search->state[node])
		return;
	path[depth++] = node;
	search->state[node] = ENTERED;
	while (depth > 0) {
		if (step(graph, search, path[depth - 1], &callee)) {
			path[depth++] = callee;
			search->state[callee] = ENTERED;
		} else {
			search->state[path[--depth]] = LEFT;
			search->order[search->count++] = path[depth];
		}
	}
}

/*
 * The total number of rows of boxes that the kept edges cross, if each function is below all that
 * call it. The time that dot takes grows with this number. Calls back to a caller count with the
 * rows that they cross upwards.
 */
static size_t length_of(const struct callgraph *graph, struct search *search)
{
	size_t length = 0;

	search->count = 0;
	memset(search->state, 0, graph->node_count + 1);
	memset(search->rank, 0, (graph->node_count + 1) * sizeof(*search->rank));
	memcpy(search->next, search->ways.first, graph->node_count * sizeof(*search->next));
	for (uint32_t node = 0; node < graph->node_count; node++)
		search_from(graph, search, node);
	for (size_t i = 0; i < search->count; i++)
		search->next[search->order[i]] = (uint32_t)i; /* its place in the order */
	for (size_t i = search->count; i-- > 0;) {
		const uint32_t node = search->order[i];

		for (uint32_t way = search->ways.first[node]; way < search->ways.first[node + 1];
		     way++) {
			const uint32_t edge = search->ways.edge[way],
				       callee = graph->edge[edge].callee;

			if (search->ways.keep[edge] && search->next[callee] < i &&
			    search->rank[callee] <= search->rank[node])
				search->rank[callee] = search->rank[node] + 1;
		}
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		const uint32_t from = search->rank[graph->edge[i].caller],
			       to = search->rank[graph->edge[i].callee];

		if (search->ways.keep[i])
			length += from < to ? to - from : from - to;
	}
	return length;
}

/* ---- more than can be drawn ------------------------------------------------------------------ */

/*
 * Finds by bisection the largest number of edges within both limits of `room`. On return
 * search->ways.keep holds the chosen edges.
 */
static void choose_fitting(const struct callgraph *graph, const uint32_t *order,
			   const struct callgraph_room *room, struct search *search,
			   bool *is_called)
{
	size_t fitting = 0,
	       limit = (room->edges < graph->edge_count ? room->edges : graph->edge_count) + 1,
	       at = limit - 1;

	while (fitting + 1 < limit) {
		choose_edges(graph, order, at, is_called, search->ways.keep);
		if (length_of(graph, search) <= room->length)
			fitting = at;
		else
			limit = at;
		at = fitting + (limit - fitting) / 2;
	}
	choose_edges(graph, order, fitting, is_called, search->ways.keep);
}

int callgraph_fit_edges(struct callgraph *graph, const struct callgraph_room *room,
			struct callgraph_fitted *fitted)
{
	uint32_t *order = malloc((graph->edge_count + 1) * sizeof(*order));
	bool *is_called = malloc(graph->node_count + 1);
	struct search search;
	int err = search_open(graph, &search);

	if (!order || !is_called)
		err = -ENOMEM;
	if (!err) {
		for (size_t i = 0; i < graph->edge_count; i++)
			order[i] = (uint32_t)i;
		qsort_r(order, graph->edge_count, sizeof(*order), compare_edges, graph);
		choose_fitting(graph, order, room, &search, is_called);
		fitted->length = length_of(graph, &search);
		fitted->dropped += keep_edges(graph, search.ways.keep);
	}
	search_close(&search);
	free(order);
	free(is_called);
	return err;
}
