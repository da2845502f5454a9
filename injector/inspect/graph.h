/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a directed graph in compact form, as large as a heap: nodes are numbers, and an edge
 * takes eight bytes.
 *
 * It is built node by node: graph_add_edge() adds an edge from the node that comes next, and
 * graph_end_node() makes it one. An edge has the offset, in words, of the pointer that it is.
 *
 * Nodes may have ranks, by the strongest of the roots that lead to them. An edge to a node of a
 * stronger rank is weak: that node is there without it.
 */
#ifndef HI_GRAPH_H
#define HI_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_EDGES_MAX (256u << 20)
#define GRAPH_UNREACHED UINT8_MAX

/* Zero-initialized = empty. */
struct graph {
	uint32_t nodes, edges;
	uint32_t *first;     /* by node: its first edge; one more element has the end of the last */
	uint32_t *to, *word; /* by edge */
	uint8_t *rank;       /* by node, 0 is the strongest; NULL: none has one */
	size_t node_room, edge_room;
	bool is_cut; /* there were more edges than GRAPH_EDGES_MAX, which were left out */
};

/* Both return 0 or -ENOMEM. An edge like the one before it is left out. */
must_check int graph_add_edge(struct graph *graph, uint32_t to, uint64_t word);
must_check int graph_end_node(struct graph *graph);
void graph_close(struct graph *graph);

static inline bool graph_is_weak(const struct graph *graph, uint32_t from, uint32_t to)
{
	return graph->rank && graph->rank[from] > graph->rank[to];
}

/*
 * Gives ranks: of a root that of the root, of what it leads to the same unless a stronger one leads
 * there; of all else GRAPH_UNREACHED. They have room for `more` nodes, which get 0. 0 or -ENOMEM.
 */
struct graph_root {
	uint32_t node;
	uint8_t rank;
};
must_check int graph_rank(struct graph *graph, const struct graph_root *root, size_t roots,
			  size_t more);
/*
 * Nodes from which all others can be reached that are GRAPH_UNREACHED: those to which no other such
 * node refers, and of rings to which nothing else leads one each.
 */
struct graph_leaders {
	uint32_t *node; /* owned */
	uint32_t count;
};
must_check int graph_find_leaders(const struct graph *graph, struct graph_leaders *out_leaders);

#endif
