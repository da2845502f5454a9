/* SPDX-License-Identifier: MIT */
/* graph_test.c - edges that are kept and left out, and who leads what no seed reaches. */
#include "made_graph.h"

static void check_leaders(struct graph *graph, uint32_t root, const uint32_t *want, size_t count)
{
	struct graph_leaders leaders;

	CHECK_EQ(graph_rank(graph, &(struct graph_root){.node = root}, 1, 0), 0);
	CHECK_EQ(graph_find_leaders(graph, &leaders), 0);
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
	static const uint32_t want[] = {4, 7, 2};
	struct graph graph = made_graph(8, edge, 7);

	check_leaders(&graph, 0, want, 3);
	graph_close(&graph);
}

UNIT_TEST(what_refers_to_reached_nodes_is_not_reached)
{
	static const struct made_edge edge[] = {{0, 1, 0}, {2, 1, 0}};
	static const uint32_t want[] = {2};
	struct graph graph = made_graph(3, edge, 2);

	check_leaders(&graph, 0, want, 1);
	graph_close(&graph);
}

UNIT_TEST(no_node_is_reached_without_a_leader)
{
	uint64_t state = 7;

	for (unsigned i = 0; i < 500; i++) {
		const uint32_t nodes = 2 + made_number(&state, 60);
		struct graph graph = made_random_graph(&state, nodes, 1 + i % 3);
		struct graph_root root[64] = {{.node = made_number(&state, nodes)}};
		struct graph_leaders leaders;

		CHECK_EQ(graph_rank(&graph, root, 1, 0), 0);
		CHECK_EQ(graph_find_leaders(&graph, &leaders), 0);
		for (uint32_t j = 0; j < leaders.count; j++)
			root[j + 1].node = leaders.node[j];
		free(graph.rank);
		CHECK_EQ(graph_rank(&graph, root, leaders.count + 1, 0), 0);
		for (uint32_t node = 0; node < nodes; node++)
			CHECK_EQ(graph.rank[node], 0);
		free(leaders.node);
		graph_close(&graph);
	}
}

UNIT_TEST(the_strongest_root_gives_the_rank)
{
	/* roots 0, 1, 2 of ranks 3, 1, 0; 0 -> 3 -> 4, 1 -> 4 -> 5, 2 -> 5 -> 6; 7 */
	static const struct made_edge edge[] = {{0, 3, 0}, {1, 4, 0}, {2, 5, 0},
						{3, 4, 0}, {4, 5, 0}, {5, 6, 0}};
	static const struct graph_root root[] = {{0, 3}, {1, 1}, {2, 0}};
	static const uint8_t want[] = {3, 1, 0, 3, 1, 0, 0, GRAPH_UNREACHED, 0, 0};
	struct graph graph = made_graph(8, edge, 6);

	CHECK(!graph_is_weak(&graph, 3, 4));
	CHECK_EQ(graph_rank(&graph, root, 3, 2), 0);
	for (uint32_t node = 0; node < 10; node++)
		CHECK_EQ(graph.rank[node], want[node]);
	CHECK(graph_is_weak(&graph, 3, 4));
	CHECK(graph_is_weak(&graph, 4, 5));
	CHECK(!graph_is_weak(&graph, 1, 4));
	CHECK(!graph_is_weak(&graph, 5, 6));
	graph_close(&graph);
}

UNIT_MAIN()
