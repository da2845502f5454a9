/* SPDX-License-Identifier: MIT */
/*
 * callgraph_edges.h - which edges of a call graph are not worth a line.
 */
#ifndef HI_CALLGRAPH_EDGES_H
#define HI_CALLGRAPH_EDGES_H

#include "callgraph.h"

#define CALLGRAPH_DETOURS_MAX 20000u /* in graphs of more edges detours are left in: they are no picture anyway */

/* Those below cutoff. What has come to nothing in a comparison goes in any case. Returns how many. */
size_t callgraph_drop_light_edges(struct callgraph *graph, double cutoff);
/* Residual edges whose callee is reached from the caller by another way as well. 0 or -ENOMEM. */
int callgraph_drop_detours(struct callgraph *graph);
/* What there is room for in a picture. */
struct callgraph_room {
	size_t edges;
	size_t length; /* of all together: how many rows of boxes they cross */
};
struct callgraph_fitted {
	size_t dropped; /* edges, in all that was fitted so far */
	size_t length;  /* of those that are left */
};
/* Keeps the heaviest ones, as many as there is room for, and to each node the heaviest whatever that makes. 0 or -ENOMEM. */
int callgraph_fit_edges(struct callgraph *graph, const struct callgraph_room *room, struct callgraph_fitted *fitted);

#endif
