/* SPDX-License-Identifier: MIT */
/* callgraph_edges_test.c - which edges stay where there are too many of them. */
#include "callgraph_edges.h"

#include "unit.h"

#define NODES 6u
#define EDGES_MAX 32u

static struct callgraph_edge edges[EDGES_MAX];
static struct callgraph graph;

static void begin(void)
{
	graph = (struct callgraph){.edge = edges, .node_count = NODES};
}

static void add(uint32_t caller, uint32_t callee, double weight, bool is_residual)
{
	edges[graph.edge_count++] = (struct callgraph_edge){.caller = caller,
							    .callee = callee,
							    .weight.value = weight,
							    .is_residual = is_residual};
}

static bool has(uint32_t caller, uint32_t callee)
{
	for (size_t i = 0; i < graph.edge_count; i++) {
		if (edges[i].caller == caller && edges[i].callee == callee)
			return true;
	}
	return false;
}

UNIT_TEST(light_ones_go)
{
	begin();
	add(0, 1, 100, false);
	add(0, 2, -100, false);
	add(0, 3, 99, false);
	add(0, 4, 0.2, false);
	CHECK_EQ(callgraph_drop_light_edges(&graph, 100), 2);
	CHECK(has(0, 1) && has(0, 2));
	add(0, 4, 0.2, false);
	CHECK_EQ(callgraph_drop_light_edges(&graph, 0), 1);
	CHECK_EQ(graph.edge_count, 2);
}

UNIT_TEST(detours_go)
{
	begin();
	add(0, 1, 10, false);
	add(1, 2, 10, false);
	add(2, 3, 10, true); /* the only way to 3 */
	add(0, 3, 10, true); /* by 1 and 2 as well */
	add(0, 2, 10, false);
	add(4, 3, 10, true); /* nothing else leads there from 4 */
	add(3, 1, 10, true); /* backwards there is no other way */
	CHECK_EQ(callgraph_drop_detours(&graph), 0);
	CHECK_EQ(graph.edge_count, 6);
	CHECK(!has(0, 3));
}

/* Of two that stand for each other one stays. */
UNIT_TEST(not_all_ways_are_detours)
{
	begin();
	add(0, 3, 10, true);
	add(0, 1, 10, true);
	add(1, 3, 10, true);
	add(0, 2, 10, true);
	add(2, 3, 10, true);
	CHECK_EQ(callgraph_drop_detours(&graph), 0);
	CHECK_EQ(graph.edge_count, 4);
	CHECK(!has(0, 3));
}

/* Room for so many edges, or for so many rows that they cross. */
static struct callgraph_fitted fit(size_t edge_count, size_t length)
{
	const struct callgraph_room room = {.edges = edge_count, .length = length};
	struct callgraph_fitted fitted = {0};

	CHECK_EQ(callgraph_fit_edges(&graph, &room, &fitted), 0);
	return fitted;
}

UNIT_TEST(the_heaviest_stay_and_one_to_each_node)
{
	begin();
	add(0, 1, 50, false);
	add(0, 2, 40, false);
	add(1, 2, -90, false);
	add(2, 1, 80, false);
	add(0, 3, 1, false); /* without it 3 would hang in the air */
	add(1, 3, 0.5, false);
	add(4, 5, 70, false);
	CHECK_EQ(fit(7, SIZE_MAX).dropped, 0);
	CHECK_EQ(fit(5, SIZE_MAX).dropped, 2);
	CHECK_EQ(graph.edge_count, 5);
	CHECK(has(1, 2) && has(2, 1) && has(4, 5) && has(0, 1) && has(0, 3));
	CHECK(edges[0].caller == 0 && edges[1].caller == 1); /* in the order in which they were */
	CHECK_EQ(fit(1, SIZE_MAX).dropped, 1);
	CHECK_EQ(graph.edge_count, 4);
	CHECK(has(1, 2) && has(2, 1) && has(4, 5) && has(0, 3));
}

UNIT_TEST(long_ones_take_more_room)
{
	begin();
	add(0, 1, 50, false);
	add(1, 2, 50, false);
	add(2, 3, 50, false);
	add(0, 3, 40, false); /* past two others */
	add(1, 3, 30, false);
	add(3, 0, 20, false); /* all the way back */
	CHECK_EQ(fit(10, 11).length, 3 + 3 + 2 + 3);
	CHECK_EQ(graph.edge_count, 6);
	CHECK_EQ(fit(10, 10).length, 3 + 3 + 3);
	CHECK(!has(1, 3) && has(0, 3));
	CHECK_EQ(fit(10, 8).length, 3 + 3);
	CHECK_EQ(fit(10, 0).dropped, 0); /* one to each */
	CHECK(graph.edge_count == 4 && has(0, 1) && has(1, 2) && has(2, 3) && has(3, 0));
}

UNIT_MAIN()
