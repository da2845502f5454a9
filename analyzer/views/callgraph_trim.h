/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.h - which part of a call graph is worth showing.
 */
#ifndef HI_CALLGRAPH_TRIM_H
#define HI_CALLGRAPH_TRIM_H

#include "callgraph.h"
#include "callgraph_edges.h"
#include "render.h"

/* pprof's: parts of the flat weight of all functions together. */
#define CALLGRAPH_NODE_FRACTION 0.005
#define CALLGRAPH_EDGE_FRACTION 0.001

struct callgraph_limits {
	size_t nodes; /* at most; 0 = all */
	double node_fraction, edge_fraction;
	bool by_cum;                /* the heaviest by cumulative weight, not by flat */
	bool is_picture;            /* instead the ones that tell most, without edges that are mere detours */
	struct callgraph_room room; /* for the edges; 0 of them = for all */
};
struct callgraph_dropped {
	size_t nodes, edges;            /* too light */
	size_t candidates;              /* nodes that were heavy enough, of which as many are left as the limit allows */
	struct callgraph_fitted fitted; /* edges that were heavy enough, but too many */
};
/* What the options ask for; nodes: where they say nothing of how many. */
struct callgraph_limits callgraph_limits_of(const struct render_options *options, size_t nodes);
/* The graph without what the limits leave out. out_dropped may be NULL. 0 or -ENOMEM. */
int callgraph_build_limited(const struct profile *profile, enum sample_type type, const struct callgraph_limits *limits, struct callgraph *out_graph,
			    struct callgraph_dropped *out_dropped);

#endif
