/* SPDX-License-Identifier: MIT */
/*
 * callgraph_edges.h - removes the edges of a call graph that are not worth showing.
 */
#ifndef HI_CALLGRAPH_EDGES_H
#define HI_CALLGRAPH_EDGES_H

#include "callgraph.h"

/* graphs with more edges keep their detours: such a graph is too large for a picture anyway */
#define CALLGRAPH_DETOURS_MAX 20000u

/*
 * Removes the edges below cutoff, and in any case those that round to zero, which a comparison may
 * have. Returns how many.
 */
size_t callgraph_drop_light_edges(struct callgraph *graph, double cutoff);
/*
 * Removes the residual edges whose callee is also reached from the caller by other edges. Returns 0
 * or -ENOMEM.
 */
int callgraph_drop_detours(struct callgraph *graph);
/* The size that a picture is limited to. */
struct callgraph_room {
	size_t edges;
	/* of all edges together: the number of rows of boxes that they cross */
	size_t length;
};
struct callgraph_fitted {
	size_t dropped; /* edges dropped by all calls so far */
	size_t length;  /* of the edges that are left */
};
/*
 * Keeps the heaviest edge to each node, even beyond the room, and then as many of the heaviest
 * other edges as there is room for. Returns 0 or -ENOMEM.
 */
int callgraph_fit_edges(struct callgraph *graph, const struct callgraph_room *room,
			struct callgraph_fitted *fitted);

#endif
