/* SPDX-License-Identifier: MIT */
/*
 * pruned_tree_test.c - of a large tree the heaviest nodes are kept, as they are in the whole one,
 * and no more than asked for.
 */
#include "pruned_tree.h"

#include "sample_profile.h"

/* Stacks of all lengths, that begin alike. */
static struct profile many_stacks(size_t count, bool are_equal)
{
	struct profile profile = sample_open();
	uint64_t random = 1;

	for (size_t i = 0; i < count; i++) {
		char names[256] = "main";
		const size_t depth = 1 + (random >> 33) % 8;

		for (size_t k = 0; k < depth; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			snprintf(names + strlen(names), sizeof(names) - strlen(names), ";f%d",
				 (int)(random >> 33) % 4);
		}
		if (are_equal)
			snprintf(names, sizeof(names), "root%zu;leaf%zu", i, i);
		sample_stack(&profile, names, are_equal ? 1 : 1 + (random >> 33) % 100, 64);
	}
	return profile;
}

static struct pruned_tree pruned_tree_of(const struct profile *profile, size_t enough,
					 struct functions *functions)
{
	struct pruned_tree pruned_tree;

	CHECK_EQ(pruned_tree_open(profile, &(struct pruned_tree_options){.enough = enough},
				  functions, &pruned_tree),
		 0);
	return pruned_tree;
}

/* By the names from the root; functions are numbered alike. */
static const struct pruned_node *same_in(const struct pruned_tree *whole,
					 const struct pruned_tree *part, uint32_t index)
{
	const struct pruned_node *parent;

	if (index == 0)
		return &whole->pruned_node[0];
	parent = same_in(whole, part, part->pruned_node[index].parent);
	for (size_t i = 1; i < whole->count; i++) {
		if (whole->pruned_node[i].function == part->pruned_node[index].function &&
		    &whole->pruned_node[whole->pruned_node[i].parent] == parent)
			return &whole->pruned_node[i];
	}
	UNIT_FAIL("a node that is not in the whole tree");
}

/* The share of the lightest one that is kept; the others are checked against the whole tree. */
static double lightest_share(const struct pruned_tree *whole, const struct pruned_tree *part,
			     size_t *out_count)
{
	double least = 1;

	*out_count = 0;
	for (uint32_t i = 0; i < part->count; i++) {
		const struct pruned_node *pruned_node = &part->pruned_node[i];

		CHECK(i == 0 || pruned_node->parent < i);
		if (pruned_node->function == PRUNED_REST) {
			CHECK_EQ(pruned_node->weight[INUSE_SPACE], 0);
			continue;
		}
		CHECK_EQ(pruned_node->weight[INUSE_SPACE],
			 same_in(whole, part, i)->weight[INUSE_SPACE]);
		if (pruned_node_share(part->pruned_node, pruned_node, NULL) < least)
			least = pruned_node_share(part->pruned_node, pruned_node, NULL);
		++*out_count;
	}
	return least;
}

UNIT_TEST(the_heaviest_are_kept)
{
	struct profile profile = many_stacks(2000, false);
	struct functions functions, others;
	struct pruned_tree whole = pruned_tree_of(&profile, SIZE_MAX, &functions);

	CHECK_EQ(whole.count, whole.node_count);
	CHECK(whole.count > 1500);
	for (size_t enough = 2; enough < 1000; enough *= 5) {
		struct pruned_tree part = pruned_tree_of(&profile, enough, &others);
		size_t kept, heavier = 0;
		const double least = lightest_share(&whole, &part, &kept);

		CHECK_EQ(part.node_count, whole.node_count);
		CHECK(kept <= enough + 1 && kept >= enough / 2); /* the root comes on top */
		/* Nothing is left out that is clearly heavier than what is kept. */
		for (size_t i = 0; i < whole.count; i++)
			heavier += pruned_node_share(whole.pruned_node, &whole.pruned_node[i],
						     NULL) > least * 1.04;
		CHECK(heavier <= kept);
		for (size_t i = 0; i < profile.stack_count; i++)
			CHECK(part.leaf[i] < part.count);
		pruned_tree_close(&part);
		functions_close(&others);
	}
	pruned_tree_close(&whole);
	functions_close(&functions);
	profile_close(&profile);
}

/* What a stack holds is found where it ends, or in the rest below a node that it goes through. */
UNIT_TEST(leaves)
{
	struct profile profile = many_stacks(2000, false);
	struct functions functions;
	struct pruned_tree part = pruned_tree_of(&profile, 40, &functions);

	for (size_t i = 0; i < profile.stack_count; i++) {
		const struct pruned_node *leaf = &part.pruned_node[part.leaf[i]];
		size_t count, depth = 0;
		const uint32_t *calls = functions_unfold(&functions, &profile.stack[i], &count);
		uint32_t at = leaf->function == PRUNED_REST ? leaf->parent : part.leaf[i];

		for (uint32_t up = at; up; up = part.pruned_node[up].parent)
			depth++;
		CHECK(leaf->function == PRUNED_REST ? depth < count : depth == count);
		for (; depth > 0; depth--, at = part.pruned_node[at].parent)
			CHECK_EQ(part.pruned_node[at].function,
				 functions.call[calls[count - depth]].function);
	}
	pruned_tree_close(&part);
	functions_close(&functions);
	profile_close(&profile);
}

UNIT_TEST(of_equals_not_all)
{
	struct profile profile = many_stacks(3000, true);
	struct functions functions;
	struct pruned_tree part = pruned_tree_of(&profile, 100, &functions);

	CHECK_EQ(part.node_count, 6001);
	CHECK(part.count <= 2 * 101 && part.count > 50);
	pruned_tree_close(&part);
	functions_close(&functions);
	profile_close(&profile);
}

UNIT_MAIN()
