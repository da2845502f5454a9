/* SPDX-License-Identifier: MIT */
/*
 * dominators.c - see dominators.h. All but dominators_find() is over numbers of nodes in the order
 * in which a depth-first search comes to them, 0 for the root.
 */
#include "dominators.h"

#include <errno.h>
#include <stdlib.h>

#define NONE GRAPH_NONE

struct tree {
	const struct graph *graph;
	uint32_t *number; /* by node */
	uint32_t *order;  /* by number: the node */
	uint32_t count;
	/* By number. */
	uint32_t *parent;    /* in the tree of the search */
	uint32_t *semi;      /* the semidominator */
	uint32_t *ancestor;  /* in the forest of what was linked so far; NONE: it is a root there */
	uint32_t *label;     /* of least semi, from there up to below the ancestor */
	uint32_t *bucket;    /* the first of those whose semidominator it is */
	uint32_t *dominator; /* meanwhile: the next one in that bucket */
	uint32_t *path;
	/* Edges by what they lead to. */
	uint32_t *first_from, *from;
};

/* ---- search ---------------------------------------------------------------------------------- */

static void visit(struct tree *tree, uint32_t node, uint32_t parent)
{
	tree->number[node] = tree->count;
	tree->order[tree->count] = node;
	tree->parent[tree->count++] = parent;
}

/* path[] has by number the edge that is followed next. */
static void search(struct tree *tree, uint32_t root)
{
	const struct graph *graph = tree->graph;
	uint32_t at = 0;

	visit(tree, root, 0);
	tree->path[0] = graph->first[root];
	for (;;) {
		if (tree->path[at] == graph->first[tree->order[at] + 1]) {
			if (!at)
				return;
			at = tree->parent[at];
			continue;
		}
		const uint32_t node = graph->to[tree->path[at]++];

		if (tree->number[node] != NONE || graph_is_weak(graph, tree->order[at], node))
			continue;
		visit(tree, node, at);
		at = tree->count - 1;
		tree->path[at] = graph->first[node];
	}
}

/* The first edge of a node, from `edge` on, that is not weak; or the end of its edges. */
static uint32_t next_edge(const struct graph *graph, uint32_t node, uint32_t edge)
{
	while (edge < graph->first[node + 1] && graph_is_weak(graph, node, graph->to[edge]))
		edge++;
	return edge;
}

#define EACH_EDGE(graph, node, edge)                                  \
	uint32_t edge = next_edge(graph, node, (graph)->first[node]); \
	edge < (graph)->first[(node) + 1];                            \
	edge = next_edge(graph, node, edge + 1)

static uint32_t turn_edges(struct tree *tree)
{
	const struct graph *graph = tree->graph;
	uint32_t edges = 0;

	for (uint32_t at = 0; at < tree->count; at++)
		for (EACH_EDGE(graph, tree->order[at], i)) {
			tree->first_from[tree->number[graph->to[i]] + 1]++;
			edges++;
		}
	for (uint32_t at = 0; at < tree->count; at++)
		tree->first_from[at + 1] += tree->first_from[at];
	/* each is filled from its end, so that first_from[] ends as it has to be */
	for (uint32_t at = tree->count; at--;)
		for (EACH_EDGE(graph, tree->order[at], i))
			tree->from[--tree->first_from[tree->number[graph->to[i]] + 1]] = at;
	return edges;
}

/* The edges that lead to a node, after turn_edges(): first_from[] has moved by one element. */
static uint32_t edges_begin(const struct tree *tree, uint32_t at)
{
	return tree->first_from[at + 1];
}

static uint32_t edges_end(const struct tree *tree, uint32_t at, uint32_t edges)
{
	return at + 1 < tree->count ? tree->first_from[at + 2] : edges;
}

/* ---- semidominators -------------------------------------------------------------------------- */

/* Shortens the path to the root of its tree in the forest. */
static void compress(struct tree *tree, uint32_t at)
{
	uint32_t count = 0;

	for (; tree->ancestor[tree->ancestor[at]] != NONE; at = tree->ancestor[at])
		tree->path[count++] = at;
	while (count) {
		const uint32_t node = tree->path[--count], above = tree->ancestor[node];

		if (tree->semi[tree->label[above]] < tree->semi[tree->label[node]])
			tree->label[node] = tree->label[above];
		tree->ancestor[node] = tree->ancestor[above];
	}
}

static uint32_t evaluate(struct tree *tree, uint32_t at)
{
	if (tree->ancestor[at] != NONE)
		compress(tree, at);
	return tree->label[at];
}

/* Those whose semidominator is the parent, which are linked to it by now. */
static void empty_bucket(struct tree *tree, uint32_t parent)
{
	uint32_t next;

	for (uint32_t at = tree->bucket[parent]; at != NONE; at = next) {
		const uint32_t least = evaluate(tree, at);

		next = tree->dominator[at];
		tree->dominator[at] = tree->semi[least] < tree->semi[at] ? least : parent;
	}
	tree->bucket[parent] = NONE;
}

static void find(struct tree *tree, uint32_t edges)
{
	for (uint32_t at = tree->count - 1; at; at--) {
		const uint32_t end = edges_end(tree, at, edges);

		for (uint32_t i = edges_begin(tree, at); i < end; i++) {
			const uint32_t semi = tree->semi[evaluate(tree, tree->from[i])];

			if (semi < tree->semi[at])
				tree->semi[at] = semi;
		}
		tree->dominator[at] = tree->bucket[tree->semi[at]];
		tree->bucket[tree->semi[at]] = at;
		tree->ancestor[at] = tree->parent[at];
		empty_bucket(tree, tree->parent[at]);
	}
	tree->dominator[0] = 0;
	for (uint32_t at = 1; at < tree->count; at++)
		if (tree->dominator[at] != tree->semi[at])
			tree->dominator[at] = tree->dominator[tree->dominator[at]];
}

/* ---- all ------------------------------------------------------------------------------------- */

static int open_search(struct tree *tree)
{
	const size_t nodes = tree->graph->nodes + 1ull, bytes = nodes * sizeof(uint32_t);

	tree->number = malloc(bytes);
	tree->order = malloc(bytes);
	tree->parent = malloc(bytes);
	tree->path = malloc(bytes);
	if (!tree->number || !tree->order || !tree->parent || !tree->path)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		tree->number[i] = NONE;
	return 0;
}

static int open_forest(struct tree *tree)
{
	const size_t bytes = (tree->count + 1ull) * sizeof(uint32_t);

	tree->semi = malloc(bytes);
	tree->ancestor = malloc(bytes);
	tree->label = malloc(bytes);
	tree->bucket = malloc(bytes);
	tree->dominator = malloc(bytes);
	tree->first_from = calloc(tree->count + 2ull, sizeof(uint32_t));
	tree->from = malloc((tree->graph->edges + 1ull) * sizeof(uint32_t));
	if (!tree->semi || !tree->ancestor || !tree->label || !tree->bucket || !tree->dominator ||
	    !tree->first_from || !tree->from)
		return -ENOMEM;
	for (uint32_t at = 0; at < tree->count; at++) {
		tree->semi[at] = tree->label[at] = at;
		tree->ancestor[at] = tree->bucket[at] = NONE;
	}
	return 0;
}

static void close_all(struct tree *tree)
{
	free(tree->number);
	free(tree->order);
	free(tree->parent);
	free(tree->path);
	free(tree->semi);
	free(tree->ancestor);
	free(tree->label);
	free(tree->bucket);
	free(tree->dominator);
	free(tree->first_from);
	free(tree->from);
}

/* From numbers to nodes; number[] and order[] become the caller's. */
static void give(struct tree *tree, struct dominators *out_dominators)
{
	for (uint32_t node = 0; node < tree->graph->nodes; node++)
		if (tree->number[node] != NONE)
			tree->number[node] = tree->order[tree->dominator[tree->number[node]]];
	*out_dominators = (struct dominators){tree->number, tree->order, tree->count};
	tree->number = tree->order = NULL;
}

int dominators_find(const struct graph *graph, uint32_t root, struct dominators *out_dominators)
{
	struct tree tree = {.graph = graph};
	int err = open_search(&tree);

	*out_dominators = (struct dominators){0};
	if (!err) {
		search(&tree, root);
		err = open_forest(&tree);
	}
	if (!err) {
		find(&tree, turn_edges(&tree));
		give(&tree, out_dominators);
	}
	close_all(&tree);
	return err;
}

void dominators_close(struct dominators *dominators)
{
	free(dominators->immediate);
	free(dominators->order);
	*dominators = (struct dominators){0};
}
