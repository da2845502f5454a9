/* SPDX-License-Identifier: MIT */
/* graph_test.c - edges that are kept and left out, and who leads what no seed reaches. */
#include "made_graph.h"

static void check_leaders(const struct graph *graph, const uint32_t *seed, size_t seeds,
			  const uint32_t *want, size_t count)
{
	struct graph_leaders leaders;

	CHECK_EQ(graph_find_leaders(graph, seed, seeds, &leaders), 0);
	CHECK_EQ(leaders.count, count);
	for (size_t i = 0; i < count; i++)
		CHECK_EQ(leaders.node[i], want[i]);
	free(leaders.node);
}

UNIT_TEST(the_same_edge_in_a_row_is_one)
{
	static const struct made_edge edge[] = {
		{0, 1, 0}, {0, 1, 5}, {0, 0, 6}, {0, 1, 7}, {1, 1, 0}};
	struct graph graph = made_graph(2, edge, 5);

	CHECK_EQ(graph.edges, 4);
	CHECK_EQ(graph.first[1], 3);
	CHECK_EQ(graph.first[2], 4);
	CHECK_EQ(graph.word[0], 0);
	CHECK_EQ(graph.to[3], 1);
	graph_close(&graph);
}

UNIT_TEST(leaders_are_what_nothing_refers_to_and_one_of_each_ring)
{
	/* 0 -> 1 reached; 2 -> 3 -> 2 a ring; 4 -> 5 -> 6 -> 5; 7 refers to itself */
	static const struct made_edge edge[] = {{0, 1, 0}, {2, 3, 0}, {3, 2, 0}, {4, 5, 0},
						{5, 6, 0}, {6, 5, 0}, {7, 7, 0}};
	static const uint32_t seed[] = {0}, want[] = {4, 7, 2};
	struct graph graph = made_graph(8, edge, 7);

	check_leaders(&graph, seed, 1, want, 3);
	graph_close(&graph);
}

UNIT_TEST(what_refers_to_reached_nodes_is_not_reached)
{
	static const struct made_edge edge[] = {{0, 1, 0}, {2, 1, 0}};
	static const uint32_t seed[] = {0}, want[] = {2};
	struct graph graph = made_graph(3, edge, 2);

	check_leaders(&graph, seed, 1, want, 1);
	graph_close(&graph);
}

UNIT_TEST(no_node_is_reached_without_a_leader)
{
	uint64_t state = 7;

	for (unsigned i = 0; i < 500; i++) {
		const uint32_t nodes = 2 + made_number(&state, 60);
		struct graph graph = made_random_graph(&state, nodes, 1 + i % 3);
		const uint32_t seed = made_number(&state, nodes);
		struct graph_leaders leaders, none;
		uint32_t all[64];

		CHECK_EQ(graph_find_leaders(&graph, &seed, 1, &leaders), 0);
		all[0] = seed;
		for (uint32_t j = 0; j < leaders.count; j++)
			all[j + 1] = leaders.node[j];
		CHECK_EQ(graph_find_leaders(&graph, all, leaders.count + 1, &none), 0);
		CHECK_EQ(none.count, 0);
		free(leaders.node);
		free(none.node);
		graph_close(&graph);
	}
}

UNIT_MAIN()
