/* SPDX-License-Identifier: MIT */
/* dominators_test.c - dominator trees, compared with what the definition says. */
#include "dominators.h"

#include <string.h>

#include "made_graph.h"

#define NODES_MAX 64u
#define NONE GRAPH_NONE

/* Which nodes are reached from the root when one is left out; NONE: none is. */
static void reach_without(const struct graph *graph, uint32_t root, uint32_t without, bool *is_seen)
{
	uint32_t todo[NODES_MAX], count = 0;

	memset(is_seen, 0, NODES_MAX * sizeof(*is_seen));
	if (root == without)
		return;
	is_seen[root] = true;
	todo[count++] = root;
	while (count) {
		const uint32_t node = todo[--count];

		for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
			const uint32_t to = graph->to[i];

			if (to == without || is_seen[to] || graph_is_weak(graph, node, to))
				continue;
			is_seen[to] = true;
			todo[count++] = to;
		}
	}
}

/* The immediate dominator is the dominator that all other dominators dominate. */
static void find_by_definition(const struct graph *graph, uint32_t root, uint32_t *immediate)
{
	bool is_seen[NODES_MAX], without[NODES_MAX][NODES_MAX];
	uint32_t depth[NODES_MAX] = {0};

	reach_without(graph, root, NONE, is_seen);
	for (uint32_t node = 0; node < graph->nodes; node++)
		reach_without(graph, root, node, without[node]);
	for (uint32_t node = 0; node < graph->nodes; node++)
		for (uint32_t by = 0; by < graph->nodes; by++)
			depth[node] += is_seen[node] && by != node && !without[by][node];
	for (uint32_t node = 0; node < graph->nodes; node++) {
		immediate[node] = node == root ? root : NONE;
		for (uint32_t by = 0; by < graph->nodes; by++)
			if (is_seen[node] && node != root && by != node && !without[by][node] &&
			    depth[by] + 1 == depth[node])
				immediate[node] = by;
	}
}

/* Each node comes once, after its dominator. */
static void check_order(const struct dominators *dominators, uint32_t nodes)
{
	bool is_met[NODES_MAX] = {false};
	uint32_t reached = 0;

	for (uint32_t i = 0; i < dominators->count; i++) {
		const uint32_t node = dominators->order[i];

		CHECK(!is_met[node]);
		is_met[node] = true;
		CHECK(is_met[dominators->immediate[node]]);
	}
	for (uint32_t node = 0; node < nodes; node++)
		reached += dominators->immediate[node] != NONE;
	CHECK_EQ(reached, dominators->count);
}

static void check(const struct graph *graph, uint32_t root)
{
	uint32_t want[NODES_MAX];
	struct dominators dominators;

	find_by_definition(graph, root, want);
	CHECK_EQ(dominators_find(graph, root, &dominators), 0);
	for (uint32_t node = 0; node < graph->nodes; node++)
		if (dominators.immediate[node] != want[node])
			UNIT_FAIL("node %u of %u: %u, not %u", node, graph->nodes,
				  dominators.immediate[node], want[node]);
	check_order(&dominators, graph->nodes);
	dominators_close(&dominators);
}

UNIT_TEST(the_root_alone)
{
	struct graph graph = made_graph(1, NULL, 0);

	check(&graph, 0);
	graph_close(&graph);
}

UNIT_TEST(of_two_owners_their_common_dominator)
{
	/* 4 -> 3 -> 0, 1; both -> 2; 2 -> 0 is a cycle */
	static const struct made_edge edge[] = {{0, 2, 0}, {1, 2, 0}, {2, 0, 0},
						{3, 0, 0}, {3, 1, 1}, {4, 3, 0}};
	struct graph graph = made_graph(5, edge, sizeof(edge) / sizeof(*edge));
	struct dominators dominators;

	CHECK_EQ(dominators_find(&graph, 4, &dominators), 0);
	CHECK_EQ(dominators.immediate[2], 3);
	CHECK_EQ(dominators.immediate[0], 3);
	CHECK_EQ(dominators.immediate[3], 4);
	dominators_close(&dominators);
	check(&graph, 4);
	graph_close(&graph);
}

UNIT_TEST(the_example_of_lengauer_and_tarjan)
{
	/* R A B C D E F G H I J K L */
	enum { R, A, B, C, D, E, F, G, H, I, J, K, L };
	static const struct made_edge edge[] = {
		{R, A, 0}, {R, B, 0}, {R, C, 0}, {A, D, 0}, {B, A, 0}, {B, D, 0}, {B, E, 0},
		{C, F, 0}, {C, G, 0}, {D, L, 0}, {E, H, 0}, {F, I, 0}, {G, I, 0}, {G, J, 0},
		{H, E, 0}, {H, K, 0}, {I, K, 0}, {J, I, 0}, {K, I, 0}, {K, R, 0}, {L, H, 0}};
	static const uint32_t want[] = {R, R, R, R, R, R, C, C, R, R, G, R, D};
	struct graph graph = made_graph(13, edge, sizeof(edge) / sizeof(*edge));
	struct dominators dominators;

	CHECK_EQ(dominators_find(&graph, R, &dominators), 0);
	for (uint32_t node = 0; node < 13; node++)
		CHECK_EQ(dominators.immediate[node], want[node]);
	dominators_close(&dominators);
	graph_close(&graph);
}

UNIT_TEST(random_graphs_by_definition)
{
	uint64_t state = 1;

	for (unsigned i = 0; i < 3000; i++) {
		const uint32_t nodes = 1 + made_number(&state, NODES_MAX);
		struct graph graph = made_random_graph(&state, nodes, 1 + i % 4);

		check(&graph, made_number(&state, nodes));
		graph_close(&graph);
	}
}

UNIT_TEST(random_graphs_with_weak_edges)
{
	uint64_t state = 5;

	for (unsigned i = 0; i < 1000; i++) {
		const uint32_t nodes = 4 + made_number(&state, NODES_MAX - 4);
		struct graph graph = made_random_graph(&state, nodes, 1 + i % 4);
		const struct graph_root root[] = {{0, 0}, {1, 1}, {2, 2}};

		CHECK_EQ(graph_rank(&graph, root, 3, 0), 0);
		for (uint32_t node = 0; node < 3; node++)
			check(&graph, node);
		graph_close(&graph);
	}
}

/* Where iterative algorithms take quadratic time, and recursive ones overflow the stack. */
UNIT_TEST(a_long_list_in_both_directions)
{
	const uint32_t nodes = 300000;
	struct graph graph = {0};
	struct dominators dominators;

	/* the last one has the first and the last of all others, as a list's head has */
	for (uint32_t node = 0; node < nodes; node++) {
		if (node + 1 < nodes)
			CHECK_EQ(graph_add_edge(&graph, node + 1, 0), 0);
		if (node)
			CHECK_EQ(graph_add_edge(&graph, node - 1, 1), 0);
		CHECK_EQ(graph_end_node(&graph), 0);
	}
	CHECK_EQ(graph_add_edge(&graph, 0, 0), 0);
	CHECK_EQ(graph_add_edge(&graph, nodes - 1, 1), 0);
	CHECK_EQ(graph_end_node(&graph), 0);
	CHECK_EQ(dominators_find(&graph, nodes, &dominators), 0);
	CHECK_EQ(dominators.count, nodes + 1);
	for (uint32_t node = 0; node <= nodes; node++)
		CHECK_EQ(dominators.immediate[node], nodes);
	dominators_close(&dominators);
	graph_close(&graph);
}

UNIT_MAIN()
