/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a directed graph in compact form, as large as a heap: nodes are numbers, and an edge
 * takes eight bytes.
 *
 * It is built node by node: graph_add_edge() adds an edge from the node that comes next, and
 * graph_end_node() makes it one. An edge has the offset, in words, of the pointer that it is.
 */
#ifndef HI_GRAPH_H
#define HI_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_EDGES_MAX (256u << 20)

/* Zero-initialized = empty. */
struct graph {
	uint32_t nodes, edges;
	uint32_t *first;     /* by node: its first edge; one more element has the end of the last */
	uint32_t *to, *word; /* by edge */
	size_t node_room, edge_room;
	bool is_cut; /* there were more edges than GRAPH_EDGES_MAX, which were left out */
};

/* Both return 0 or -ENOMEM. An edge like the one before it is left out. */
must_check int graph_add_edge(struct graph *graph, uint32_t to, uint64_t word);
must_check int graph_end_node(struct graph *graph);
void graph_close(struct graph *graph);

/*
 * Nodes from which all others can be reached that cannot be reached from the nodes of `seed`: those
 * to which no other such node refers, and of rings to which nothing else leads one each.
 */
struct graph_leaders {
	uint32_t *node; /* owned */
	uint32_t count;
};
must_check int graph_find_leaders(const struct graph *graph, const uint32_t *seed, size_t seeds,
				  struct graph_leaders *out_leaders);

#endif
