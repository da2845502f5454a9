/* SPDX-License-Identifier: MIT */
/*
 * callgraph_test.c - sums by function and by call, against figures added up by hand.
 */
#include "unit.h"

#include "callgraph.h"
#include "callgraph_tree.h"
#include "callgraph_trim.h"
#include "merge.h"
#include "sample_profile.h"

/* A picture of so many nodes with pprof's limits. */
static int build_picture(const struct profile *profile, size_t node_limit,
			 struct callgraph *out_graph)
{
	const struct callgraph_limits limits = {.nodes = node_limit,
						.node_fraction = CALLGRAPH_NODE_FRACTION,
						.edge_fraction = CALLGRAPH_EDGE_FRACTION,
						.is_picture = true};

	return callgraph_build_limited(profile, INUSE_SPACE, &limits, out_graph, NULL);
}

static const struct callgraph_node *node(const struct callgraph *graph, const char *name)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		if (strcmp(graph->node[i].name, name) == 0)
			return &graph->node[i];
	}
	UNIT_FAIL("no node %s", name);
}

static const struct callgraph_edge *edge(const struct callgraph *graph, const char *caller,
					 const char *callee)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		if (strcmp(graph->node[graph->edge[i].caller].name, caller) == 0 &&
		    strcmp(graph->node[graph->edge[i].callee].name, callee) == 0)
			return &graph->edge[i];
	}
	return NULL;
}

UNIT_TEST(flat_and_cumulative)
{
	struct profile profile = sample_open();
	struct callgraph graph;

	sample_stack(&profile, "main;a;b", 2, 100);
	sample_stack(&profile, "main;a", 1, 50);
	sample_stack(&profile, "main;b", 1, 7);
	sample_stack(&profile, "main;a;b", 1, 5000); /* another size class of the first stack */
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK_EQ(graph.total.value, 5257);
	CHECK_EQ(node(&graph, "main")->flat.value, 0);
	CHECK_EQ(node(&graph, "main")->cum.value, 5257);
	CHECK_EQ(node(&graph, "a")->flat.value, 50);
	CHECK_EQ(node(&graph, "a")->cum.value, 5250);
	CHECK_EQ(node(&graph, "b")->flat.value, 5207);
	CHECK_EQ(edge(&graph, "main", "a")->weight.value, 5250);
	CHECK_EQ(edge(&graph, "a", "b")->weight.value, 5200);
	CHECK_EQ(edge(&graph, "main", "b")->weight.value, 7);
	CHECK_EQ(graph.edge_count, 3);
	callgraph_close(&graph);
	CHECK_EQ(callgraph_build(&profile, ALLOC_OBJECTS, NULL, &graph), 0);
	CHECK_EQ(graph.total.value, 10);
	callgraph_close(&graph);
	profile_close(&profile);
}

/*
 * A sampled place of which nothing is in use may hold blocks without a sample, and so may blocks
 * that were passed over.
 */
UNIT_TEST(the_total_has_the_whole_interval)
{
	struct profile profile = sample_open();
	const struct callgraph_limits limits = {0};
	struct callgraph_dropped dropped;
	struct callgraph graph;
	uint32_t frame[2];

	profile.meta.interval = 1000;
	profile.meta.passed_bytes = 7;
	frame[0] = sample_frame(&profile, "holds");
	sample_frames(&profile, frame, 1, 5, 100000);
	frame[1] = sample_frame(&profile, "frees");
	struct profile_row *row = sample_row(&profile, &frame[1], 1, 10);
	row->alloc_count = 50;
	row->alloc_bytes = 500;
	row->freed_count = 50;
	row->grain = 1000000; /* it was thinned */

	const struct estimate total = estimate_total(&profile, INUSE_SPACE);
	CHECK(total.unit == 1000000);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK_EQ(memcmp(&graph.total, &total, sizeof(total)), 0);
	CHECK_EQ(node(&graph, "frees")->cum.samples, 0);
	callgraph_close(&graph);
	CHECK_EQ(callgraph_build_tree(&profile, INUSE_SPACE, &limits, &graph, &dropped), 0);
	CHECK_EQ(memcmp(&graph.total, &total, sizeof(total)), 0);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(recursion_counts_once)
{
	struct profile profile = sample_open();
	struct callgraph graph;

	sample_stack(&profile, "main;a;b;a;b;a;a", 1, 100);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK_EQ(node(&graph, "a")->cum.value, 100);
	CHECK_EQ(node(&graph, "a")->flat.value, 100);
	CHECK_EQ(edge(&graph, "a", "b")->weight.value, 100);
	CHECK_EQ(edge(&graph, "b", "a")->weight.value, 100);
	CHECK(!edge(&graph, "a", "a"));
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(inlined_calls)
{
	struct profile profile = sample_open();
	struct callgraph graph;

	sample_stack(&profile, "main;inner<outer", 1, 100);
	sample_stack(&profile, "main;other;both", 1, 10);
	sample_stack(&profile, "main;both<outer", 1, 10);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK(edge(&graph, "outer", "inner")->is_inline);
	CHECK(!edge(&graph, "main", "outer")->is_inline);
	CHECK_EQ(node(&graph, "inner")->inlining, INLINE_ALWAYS);
	CHECK_EQ(node(&graph, "both")->inlining, INLINE_SOMETIMES);
	CHECK_EQ(node(&graph, "outer")->inlining, INLINE_NEVER);
	CHECK_EQ(node(&graph, "inner")->line, 10);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(allocator_leaves_are_left_out)
{
	struct profile profile = sample_open();
	struct callgraph graph;

	sample_stack(&profile,
		     "main;std::vector::push_back;__gnu_cxx::new_allocator::allocate;operator new",
		     1, 100);
	sample_stack(&profile, "main;zmalloc", 1, 10);
	sample_stack(&profile, "operator new", 1, 1);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK_EQ(node(&graph, "std::vector::push_back")->flat.value, 100);
	CHECK_EQ(node(&graph, "zmalloc")->flat.value, 10);
	/* Where there is nothing else, it stays. */
	CHECK_EQ(node(&graph, "operator new")->flat.value, 1);
	CHECK_EQ(graph.total.value, 111);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(without_some_nodes)
{
	struct profile profile = sample_open();
	struct callgraph graph;
	bool keep[3];

	sample_stack(&profile, "main;gone;leaf", 1, 100);
	sample_stack(&profile, "main;gone", 1, 10);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	for (size_t i = 0; i < 3; i++)
		keep[i] = strcmp(graph.node[i].name, "gone") != 0;
	callgraph_close(&graph);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, keep, &graph), 0);
	CHECK_EQ(graph.total.value, 110);
	CHECK_EQ(graph.edge_count, 1);
	CHECK(edge(&graph, "main", "leaf")->is_residual);
	CHECK_EQ(node(&graph, "main")->cum.value, 110);
	CHECK_EQ(node(&graph, "main")->flat.value, 0);
	CHECK_EQ(node(&graph, "gone")->cum.value, 0);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(trimming)
{
	struct profile profile = sample_open();
	struct callgraph graph;
	size_t shown = 0;

	sample_stack(&profile, "main;pass;through;heavy", 1, 100000);
	sample_stack(&profile, "main;light", 1, 100);
	sample_stack(&profile, "main;direct;heavy", 1, 50000);
	CHECK_EQ(build_picture(&profile, 80, &graph), 0);
	CHECK_EQ(node(&graph, "light")->cum.value, 0);
	CHECK_EQ(node(&graph, "through")->cum.value, 100000);
	callgraph_close(&graph);
	/* Functions that only pass through go first. */
	CHECK_EQ(build_picture(&profile, 2, &graph), 0);
	for (size_t i = 0; i < graph.node_count; i++)
		shown += graph.node[i].cum.value != 0;
	CHECK_EQ(shown, 2);
	CHECK_EQ(node(&graph, "heavy")->flat.value, 150000);
	CHECK(edge(&graph, "main", "heavy")->is_residual);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(heaviest_whatever_the_sign)
{
	struct profile profile = sample_open(), earlier = sample_open();
	struct callgraph graph;
	size_t count;

	sample_stack(&profile, "main;more", 1, 300);
	sample_stack(&profile, "main;same", 1, 500);
	sample_stack(&earlier, "main;less", 1, 400);
	sample_stack(&earlier, "main;same", 1, 500);
	CHECK_EQ(profile_merge(&profile, &earlier, PROFILE_BASE), 0);
	profile_close(&earlier);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	uint32_t *order = callgraph_order(&graph, CALLGRAPH_BY_FLAT, &count);
	CHECK_EQ(count, 3); /* what adds up to nothing is not there */
	CHECK_STR(graph.node[order[0]].name, "less");
	CHECK_STR(graph.node[order[1]].name, "more");
	CHECK_EQ(graph.node[order[0]].flat.value, -400);
	free(order);
	callgraph_close(&graph);
	CHECK_EQ(build_picture(&profile, 80, &graph), 0);
	CHECK(edge(&graph, "main", "less"));
	CHECK(!edge(&graph, "main", "same"));
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(equals_go_by_name)
{
	struct profile profile = sample_open();
	struct callgraph graph;
	size_t count;

	sample_stack(&profile, "z;b", 1, 100);
	sample_stack(&profile, "z;x;a", 1, 100);
	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	uint32_t *order = callgraph_order(&graph, CALLGRAPH_BY_FLAT, &count);
	CHECK_EQ(count, 4);
	CHECK_STR(graph.node[order[0]].name, "a");
	CHECK_STR(graph.node[order[1]].name, "b");
	CHECK_STR(graph.node[order[2]].name, "x"); /* not z, which has more with what it calls */
	free(order);
	order = callgraph_order(&graph, CALLGRAPH_BY_FLAT_AND_CUM, &count);
	CHECK_EQ(count, 4);
	CHECK_STR(graph.node[order[0]].name, "a");
	CHECK_STR(graph.node[order[1]].name, "b");
	CHECK_STR(graph.node[order[2]].name, "z");
	free(order);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(limits)
{
	struct profile profile = sample_open();
	struct callgraph graph;
	struct callgraph_dropped dropped;
	const struct callgraph_limits limits = {
		.nodes = 2, .node_fraction = 0.01, .edge_fraction = 0.5};

	sample_stack(&profile, "main;a;leaf", 1, 600);
	sample_stack(&profile, "main;b", 1, 395);
	sample_stack(&profile, "main;tiny", 1, 5);
	CHECK_EQ(callgraph_build_limited(&profile, INUSE_SPACE, &limits, &graph, &dropped), 0);
	CHECK_EQ(dropped.nodes, 1);
	CHECK_EQ(dropped.candidates, 4);
	CHECK(callgraph_has(node(&graph, "leaf")));
	CHECK(callgraph_has(node(&graph, "b")));
	CHECK(!callgraph_has(node(&graph, "main"))); /* the heaviest by what they have themselves */
	CHECK_EQ(graph.edge_count, 0);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_TEST(empty_profile)
{
	struct profile profile = sample_open();
	struct callgraph graph;

	CHECK_EQ(callgraph_build(&profile, INUSE_SPACE, NULL, &graph), 0);
	CHECK_EQ(graph.node_count, 0);
	callgraph_close(&graph);
	CHECK_EQ(build_picture(&profile, 80, &graph), 0);
	callgraph_close(&graph);
	profile_close(&profile);
}

UNIT_MAIN()
