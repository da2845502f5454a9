/* SPDX-License-Identifier: MIT */
/*
 * callgraph.h - a profile summed up by function: flat and cumulative weight per name, and weight per caller-callee pair.
 *
 * What the text, tree and svg views share. A function counts once per stack in its cumulative weight, however often it recurs.
 */
#ifndef HI_CALLGRAPH_H
#define HI_CALLGRAPH_H

#include "estimate.h"

struct callgraph_node {
	const char *name;  /* function, or module+0xoffset; points into the profile or into the graph */
	const char *file;  /* of the function, may be NULL */
	struct estimate flat, cum;
};
struct callgraph_edge {
	uint32_t caller, callee; /* node indices */
	struct estimate weight;
	bool is_inline;
};
struct callgraph {
	struct callgraph_node *node;
	size_t node_count;
	struct callgraph_edge *edge;
	size_t edge_count;
	struct estimate total;
	char *names; /* private */
};
int callgraph_build(const struct profile *profile, enum sample_type type, struct callgraph *out_graph);
void callgraph_close(struct callgraph *graph);

#endif
