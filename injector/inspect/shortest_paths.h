/* SPDX-License-Identifier: MIT */
/*
 * shortest_paths.h - how a node of a graph is reached from the root: by a path of as few edges as
 * possible, none of them weak. Of several such paths it is one.
 *
 * Paths have shapes, so that thousands of them can be shown as one: two have the same if they lead
 * by way of nodes of the same classes, by the same offsets. Offsets in nodes that are large, as
 * tables are, do not count, nor do steps from a node to another of its class, as in lists and
 * trees.
 */
#ifndef HI_SHORTEST_PATHS_H
#define HI_SHORTEST_PATHS_H

#include "graph.h"

#define PATH_EXACT_BYTES 256u /* offsets count in nodes of up to so many bytes */

struct shortest_paths {
	uint32_t *from; /* by node: the one before it; GRAPH_NONE: the root, or it is not reached */
	uint32_t *edge; /* by node: the edge from there */
	uint32_t *order; /* the nodes that are reached, nearest first */
	uint32_t count;
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int shortest_paths_find(const struct graph *graph, uint32_t root,
				   struct shortest_paths *out_paths);
void shortest_paths_close(struct shortest_paths *paths);
struct path_nodes {
	uint64_t (*class_of)(const void *context, uint32_t node);
	uint64_t (*bytes_of)(const void *context, uint32_t node);
	const void *context;
};
/* Is it of the class of the node before it? */
bool shortest_paths_is_repeated(const struct shortest_paths *paths, const struct path_nodes *nodes,
				uint32_t node);
/* By node, the hash of its path's shape; 0: it is not reached. To be freed; NULL: no memory. */
uint64_t *shortest_paths_shapes(const struct graph *graph, const struct shortest_paths *paths,
				const struct path_nodes *nodes);

#endif
