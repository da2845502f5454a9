/* SPDX-License-Identifier: MIT */
/*
 * html_nodes_test.c - what is known of the nodes of a tree that was cut is what stacks say that are
 * followed through the smaller tree.
 */
#include "unit.h"

#include "html_nodes.h"
#include "sample_profile.h"

/* Stacks of many depths that share beginnings, with functions that call themselves. */
static struct profile open_profile(void)
{
	struct profile profile = sample_open();
	char names[64];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(names, sizeof(names), "main;a%u;a%u;b%u%s", i % 7, i % 3, i % 31,
			 i % 2 ? ";malloc" : "");
		sample_stack(&profile, names, 1 + i * i % 97, 16);
	}
	return profile;
}

static void check_same(const struct html_nodes *nodes, const struct html_nodes *wanted)
{
	for (size_t i = 0; i < wanted->profile->stack_count; i++)
		CHECK_EQ(nodes->leaf[i], wanted->leaf[i]);
	for (size_t i = 0; i < wanted->tree->count; i++) {
		CHECK_EQ(nodes->line[i], wanted->line[i]);
		CHECK_EQ(nodes->is_kept[i], wanted->is_kept[i]);
	}
}

UNIT_TEST(nodes_of_a_tree_that_is_cut_again_and_again)
{
	const struct calltree_options options = {.type = INUSE_SPACE, .limit = 1000};
	struct profile profile = open_profile();
	struct calltree tree;
	struct html_nodes nodes, wanted;
	size_t lines = 0;

	CHECK_EQ(calltree_open(&profile, &options, &tree), 0);
	CHECK_EQ(html_nodes_open(&profile, &tree, NULL, &nodes), 0);
	for (size_t limit = 400; limit > 1; limit /= 3) {
		CHECK_EQ(html_nodes_cut(&nodes, &tree, limit), 0);
		CHECK(tree.count <= limit);
		CHECK_EQ(html_nodes_open(&profile, &tree, NULL, &wanted), 0);
		check_same(&nodes, &wanted);
		for (size_t i = 0; i < tree.count; i++)
			lines += nodes.line[i] > 0;
		html_nodes_close(&wanted);
	}
	CHECK(lines > 0);
	html_nodes_close(&nodes);
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_MAIN()
