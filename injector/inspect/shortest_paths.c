/* SPDX-License-Identifier: MIT */
/* shortest_paths.c - see shortest_paths.h. A breadth-first search. */
#include "shortest_paths.h"

#include <errno.h>
#include <stdlib.h>

static void visit(const struct graph *graph, struct shortest_paths *paths, uint32_t node)
{
	for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++) {
		const uint32_t to = graph->to[edge];

		if (paths->edge[to] != GRAPH_NONE || graph_is_weak(graph, node, to))
			continue;
		paths->edge[to] = edge;
		paths->from[to] = node;
		paths->order[paths->count++] = to;
	}
}

int shortest_paths_find(const struct graph *graph, uint32_t root, struct shortest_paths *out_paths)
{
	const size_t nodes = graph->nodes + 1ull;
	struct shortest_paths paths = {
		.from = malloc(nodes * sizeof(*paths.from)),
		.edge = malloc(nodes * sizeof(*paths.edge)),
		.order = malloc(nodes * sizeof(*paths.order)),
	};

	*out_paths = paths;
	if (!paths.from || !paths.edge || !paths.order)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		paths.from[i] = paths.edge[i] = GRAPH_NONE;
	paths.edge[root] = 0; /* it is not reached again */
	paths.order[paths.count++] = root;
	for (uint32_t i = 0; i < paths.count; i++)
		visit(graph, &paths, paths.order[i]);
	*out_paths = paths;
	return 0;
}

void shortest_paths_close(struct shortest_paths *paths)
{
	free(paths->from);
	free(paths->edge);
	free(paths->order);
	*paths = (struct shortest_paths){0};
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Of the step to the node: what it is, and where the pointer to it is. */
static uint64_t step_of(const struct graph *graph, const struct shortest_paths *paths,
			const struct path_nodes *nodes, uint32_t node)
{
	const uint32_t from = paths->from[node];
	const bool is_exact = nodes->bytes_of(nodes->context, from) <= PATH_EXACT_BYTES;
	const uint64_t word = is_exact ? graph->word[paths->edge[node]] : UINT32_MAX;

	return nodes->class_of(nodes->context, node) * 0x9e3779b97f4a7c15ull + word + 1;
}

bool shortest_paths_is_repeated(const struct shortest_paths *paths, const struct path_nodes *nodes,
				uint32_t node)
{
	const uint32_t from = paths->from[node];

	return from != GRAPH_NONE &&
	       nodes->class_of(nodes->context, node) == nodes->class_of(nodes->context, from);
}

uint64_t *shortest_paths_shapes(const struct graph *graph, const struct shortest_paths *paths,
				const struct path_nodes *nodes)
{
	uint64_t *shape = calloc(graph->nodes + 1ull, sizeof(*shape));

	if (!shape)
		return NULL;
	shape[paths->order[0]] = 1;
	for (uint32_t i = 1; i < paths->count; i++) {
		const uint32_t node = paths->order[i];
		const uint64_t before = shape[paths->from[node]];

		shape[node] =
			shortest_paths_is_repeated(paths, nodes, node)
				? before
				: (before ^ step_of(graph, paths, nodes, node)) * 0x100000001b3ull |
					  1;
	}
	return shape;
}
