/* SPDX-License-Identifier: MIT */
/* made_graph.h - graphs for tests: by hand, and random ones that are the same each time. */
#ifndef HI_MADE_GRAPH_H
#define HI_MADE_GRAPH_H

#include "graph.h"
#include "unit.h"

struct made_edge {
	uint32_t from, to, word;
};

/* edge: sorted by `from` */
static inline struct graph made_graph(uint32_t nodes, const struct made_edge *edge, size_t count)
{
	struct graph graph = {0};
	size_t at = 0;

	for (uint32_t node = 0; node < nodes; node++) {
		for (; at < count && edge[at].from == node; at++)
			CHECK_EQ(graph_add_edge(&graph, edge[at].to, edge[at].word), 0);
		CHECK_EQ(graph_end_node(&graph), 0);
	}
	CHECK_EQ(at, count);
	return graph;
}

static inline uint32_t made_number(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33) % below;
}

/* Each node has up to `degree` edges to others, itself and the root included. */
static inline struct graph made_random_graph(uint64_t *state, uint32_t nodes, uint32_t degree)
{
	struct graph graph = {0};

	for (uint32_t node = 0; node < nodes; node++) {
		for (uint32_t i = made_number(state, degree + 1); i; i--)
			CHECK_EQ(graph_add_edge(&graph, made_number(state, nodes), i), 0);
		CHECK_EQ(graph_end_node(&graph), 0);
	}
	return graph;
}

#endif
