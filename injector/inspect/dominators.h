/* SPDX-License-Identifier: MIT */
/*
 * dominators.h - the dominator tree of a graph: a node's immediate dominator is the last one that
 * is on every path from the root to it. Without it the node would not be reached. Weak edges do not
 * count.
 *
 * By Lengauer and Tarjan, A Fast Algorithm for Finding Dominators in a Flowgraph, 1979, with path
 * compression alone: O(edges * log nodes) for any graph, where iterative algorithms take quadratic
 * time for a list that is linked in both directions. Nothing is recursive.
 */
#ifndef HI_DOMINATORS_H
#define HI_DOMINATORS_H

#include "graph.h"

struct dominators {
	uint32_t *immediate; /* by node; of the root: itself; GRAPH_NONE: it is not reached */
	uint32_t *order;     /* the nodes that are reached: each after its dominators */
	uint32_t count;
};

/* 36 bytes a node and 4 an edge meanwhile. 0 or -ENOMEM. Close it in either case. */
must_check int dominators_find(const struct graph *graph, uint32_t root,
			       struct dominators *out_dominators);
void dominators_close(struct dominators *dominators);

#endif
