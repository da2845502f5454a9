/* SPDX-License-Identifier: MIT */
/* shortest_paths_test.c - shortest paths, and which of them have the same shape. */
#include "shortest_paths.h"

#include "made_graph.h"

/* Nodes have 16 bytes, but for those of classes from 100 on, which are large. */
static uint64_t class_of(const void *context, uint32_t node)
{
	const uint8_t *class = context;

	return class[node];
}

static uint64_t bytes_of(const void *context, uint32_t node)
{
	const uint8_t *class = context;

	return class[node] >= 100 ? PATH_EXACT_BYTES + 8 : 16;
}

UNIT_TEST(the_shortest_one)
{
	/* 0 -> 1 -> 2 -> 3 and 0 -> 3 -> 4 */
	static const struct made_edge edge[] = {
		{0, 1, 1}, {0, 3, 2}, {1, 2, 0}, {2, 3, 0}, {3, 4, 7}};
	struct graph graph = made_graph(6, edge, 5);
	struct shortest_paths paths;

	CHECK_EQ(shortest_paths_find(&graph, 0, &paths), 0);
	CHECK_EQ(paths.count, 5);
	CHECK_EQ(paths.from[3], 0);
	CHECK_EQ(graph.word[paths.edge[3]], 2);
	CHECK_EQ(paths.from[4], 3);
	CHECK_EQ(paths.from[0], GRAPH_NONE);
	CHECK_EQ(paths.from[5], GRAPH_NONE);
	shortest_paths_close(&paths);
	graph_close(&graph);
}

static void shapes(const struct made_edge *edge, size_t edges, const uint8_t *class, uint32_t nodes,
		   uint64_t *out_shape)
{
	const struct path_nodes of = {class_of, bytes_of, class};
	struct graph graph = made_graph(nodes, edge, edges);
	struct shortest_paths paths;

	CHECK_EQ(shortest_paths_find(&graph, 0, &paths), 0);
	uint64_t *shape = shortest_paths_shapes(&graph, &paths, &of);
	CHECK(shape);
	memcpy(out_shape, shape, nodes * sizeof(*shape));
	free(shape);
	shortest_paths_close(&paths);
	graph_close(&graph);
}

UNIT_TEST(offsets_and_classes_make_the_shape)
{
	static const struct made_edge edge[] = {{0, 1, 0}, {0, 2, 1}, {0, 3, 0}, {1, 4, 1},
						{3, 5, 1}, {3, 6, 1}, {3, 7, 2}};
	static const uint8_t class[] = {1, 2, 2, 2, 3, 3, 4, 3};
	uint64_t shape[8];

	shapes(edge, 7, class, 8, shape);
	CHECK(shape[1] != shape[2]);
	CHECK_EQ(shape[1], shape[3]);
	CHECK_EQ(shape[4], shape[5]);
	CHECK(shape[5] != shape[6]);
	CHECK(shape[5] != shape[7]);
}

UNIT_TEST(offsets_in_tables_do_not_count)
{
	static const struct made_edge edge[] = {{0, 1, 3}, {1, 2, 10}, {1, 3, 20}};
	static const uint8_t class[] = {1, 100, 3, 3};
	uint64_t shape[4];

	shapes(edge, 3, class, 4, shape);
	CHECK_EQ(shape[2], shape[3]);
}

UNIT_TEST(steps_within_a_class_do_not_count)
{
	/* 0 -> 1 -> 2 -> 3, of the class of a tree's nodes; each has one more */
	static const struct made_edge edge[] = {{0, 1, 0}, {1, 2, 1}, {1, 4, 0},
						{2, 3, 0}, {2, 5, 0}, {3, 6, 1}};
	static const uint8_t class[] = {1, 2, 2, 2, 3, 3, 3};
	uint64_t shape[7];

	shapes(edge, 6, class, 7, shape);
	CHECK_EQ(shape[1], shape[2]);
	CHECK_EQ(shape[2], shape[3]);
	CHECK_EQ(shape[4], shape[5]);
	CHECK(shape[5] != shape[6]);
	CHECK(shape[3] != shape[4]);
}

UNIT_MAIN()
