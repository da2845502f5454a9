/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.h - which part of a call graph is worth showing.
 */
#ifndef HI_CALLGRAPH_TRIM_H
#define HI_CALLGRAPH_TRIM_H

#include "callgraph.h"
#include "callgraph_edges.h"
#include "render.h"

/* As in pprof: fractions of the flat weight of all functions together. */
#define CALLGRAPH_NODE_FRACTION 0.005
#define CALLGRAPH_EDGE_FRACTION 0.001

struct callgraph_limits {
	size_t nodes; /* at most; 0 = all */
	double node_fraction, edge_fraction;
	bool drop_negative;
	enum callgraph_sort sort;       /* by this the heaviest nodes are kept */
	const struct user_frames *fold; /* as in callgraph_rebuild() */
	/* keep the nodes with the best score instead, and drop detours (callgraph_edges.h) */
	bool is_picture;
	struct callgraph_room room; /* for the edges; room.edges 0 = no limit */
};
struct callgraph_dropped {
	size_t nodes, edges; /* too light */
	/* nodes that were heavy enough; the limit may leave fewer of them */
	size_t candidates;
	struct callgraph_fitted fitted; /* edges that were heavy enough, but too many */
};
/* The limits that the options ask for. nodes: the limit where the options have none. */
struct callgraph_limits callgraph_limits_of(const struct render_options *options, size_t nodes);
/*
 * Builds the graph without what the limits exclude. out_dropped may be NULL. Returns 0 or -ENOMEM.
 */
int callgraph_build_limited(const struct profile *profile, enum sample_type type,
			    const struct callgraph_limits *limits, struct callgraph *out_graph,
			    struct callgraph_dropped *out_dropped);

#endif
