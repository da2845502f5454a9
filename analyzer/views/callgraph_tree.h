/* SPDX-License-Identifier: MIT */
/*
 * callgraph_tree.h - a call graph in which a function has a node for each way in which it is
 * called, as pprof's call_tree: each node has one caller at most.
 */
#ifndef HI_CALLGRAPH_TREE_H
#define HI_CALLGRAPH_TREE_H

#include "callgraph_trim.h"

/*
 * As callgraph_build_limited(), but by the cumulative weight alone: limits->fold and limits->room
 * do not count, and no node is called inlined.
 */
int callgraph_build_tree(const struct profile *profile, enum sample_type type,
			 const struct callgraph_limits *limits, struct callgraph *out_graph,
			 struct callgraph_dropped *out_dropped);

#endif
