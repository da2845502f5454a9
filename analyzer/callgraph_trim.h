/* SPDX-License-Identifier: MIT */
/*
 * callgraph_trim.h - which part of a call graph is worth drawing.
 */
#ifndef HI_CALLGRAPH_TRIM_H
#define HI_CALLGRAPH_TRIM_H

#include "callgraph.h"

/* The graph of the node_limit nodes that tell most, without negligible edges and detours. 0 or -ENOMEM. */
int callgraph_build_trimmed(const struct profile *profile, enum sample_type type, size_t node_limit, struct callgraph *out_graph);

#endif
