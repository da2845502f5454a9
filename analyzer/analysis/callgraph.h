/* SPDX-License-Identifier: MIT */
/*
 * callgraph.h - a profile summed up by function: flat and cumulative weight per name, and weight per caller-callee pair.
 *
 * What the text and svg views share. A function counts once per stack in its cumulative weight, however often it recurs, and so does a pair.
 * Functions that are not kept are stepped over: their callers then lead to their callees by residual edges, and their flat weight is nobody's.
 */
#ifndef HI_CALLGRAPH_H
#define HI_CALLGRAPH_H

#include "estimate.h"
#include "functions.h"

enum callgraph_inlining { INLINE_NEVER, INLINE_SOMETIMES, INLINE_ALWAYS };

struct callgraph_node {
	const char *name;                 /* function, or module+0xoffset; lives as long as the graph */
	const char *file;                 /* of the most expensive call in it; may be NULL */
	uint32_t line;                    /* 0 = unknown */
	enum callgraph_inlining inlining; /* into its callers */
	struct estimate flat, cum;        /* both nothing: not kept, or not on any stack that counts */
};
struct callgraph_edge {
	uint32_t caller, callee; /* node indices; never the same */
	struct estimate weight;
	bool is_inline;   /* always inlined, be it into one that is not kept */
	bool is_residual; /* always with others in between */
};
struct callgraph {
	struct callgraph_node *node; /* numbered as in functions.h */
	size_t node_count;
	struct callgraph_edge *edge;
	size_t edge_count;
	struct estimate total;                /* of all rows, whatever is kept */
	double percent_base;                         /* what percentages are of */
	enum profile_granularity granularity; /* what the nodes are, as in the profile */
	uint64_t slack_samples;               /* as in the profile: how many samples' usable sizes are known */
	struct functions functions;
};
/* keep: by node, NULL = all. 0 or -ENOMEM. */
int callgraph_build(const struct profile *profile, enum sample_type type, const bool *keep, struct callgraph *out_graph);
/* The same for a graph of that profile that is there already; on failure it is closed. */
int callgraph_rebuild(const struct profile *profile, enum sample_type type, const bool *keep, struct callgraph *graph);
void callgraph_close(struct callgraph *graph);
/* Has it any weight that shows in whole bytes or objects? In a comparison much adds up to nothing. */
bool callgraph_has(const struct callgraph_node *node);
/* Says of each node whether it is inlined into its callers, by the edges that there are: to be done anew where some were taken away. 0 or -ENOMEM. */
int callgraph_note_inlining(struct callgraph *graph);
/*
 * Nodes that have a weight, sorted by flat or by cumulative weight, heaviest first, whatever its sign; of equals by name. To be freed by the caller; NULL = out
 * of memory.
 */
uint32_t *callgraph_order(const struct callgraph *graph, bool by_cum, size_t *out_count);

#endif
