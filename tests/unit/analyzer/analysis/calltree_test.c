/* SPDX-License-Identifier: MIT */
/*
 * calltree_test.c - the tree of a small profile, of a comparison, and of profiles that are too
 * large to be shown.
 */
#include "unit.h"

#include <math.h>

#include "calltree.h"
#include "sample_profile.h"

static const struct calltree_options in_use = {.type = INUSE_SPACE, .limit = 1000};

static struct calltree tree_of(const struct profile *profile,
			       const struct calltree_options *options)
{
	struct calltree tree;

	CHECK_EQ(calltree_open(profile, options, &tree), 0);
	return tree;
}

/*
 * The tree as text: "all 5(0) main 5(1) ...", total and self of a type, a child in brackets behind
 * its parent.
 */
static char *text_of(const struct calltree *tree, enum sample_type type)
{
	char *text;
	size_t size;
	uint32_t depth = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_node *node = &tree->node[i];
		for (; depth > node->depth; depth--)
			fputc(']', out);
		if (i)
			fputs(node->depth > tree->node[i - 1].depth ? " [" : " ", out);
		depth = node->depth;
		fprintf(out, "%s %.0f(%.0f)", calltree_name(tree, node), node->total[type].value,
			node->self[type].value);
	}
	for (; depth > 0; depth--)
		fputc(']', out);
	fclose(out);
	return text;
}

static void check_text(const struct calltree *tree, enum sample_type type, const char *wanted)
{
	char *text = text_of(tree, type);

	CHECK_STR(text, wanted);
	free(text);
}

/* What every tree is: in preorder, and its figures add up. */
static void check_whole(const struct calltree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct calltree_node *node = &tree->node[i];
		CHECK(i == 0 ? node->parent == 0
			     : node->parent < i && i < tree->node[node->parent].end);
		CHECK(node->end > i && node->end <= tree->count);
		CHECK_EQ(node->depth, i ? tree->node[node->parent].depth + 1 : 0);
		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			double sum = node->self[type].value;
			for (uint32_t child = i + 1; child < node->end;
			     child = tree->node[child].end)
				sum += tree->node[child].total[type].value;
			CHECK(fabs(sum - node->total[type].value) <= 1e-9 * (1 + fabs(sum)));
		}
	}
	CHECK_EQ(tree->node[0].end, tree->count);
}

UNIT_TEST(self_and_total_of_every_type)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;serve;copy<store", 3, 1024);
	sample_stack(&profile, "main;serve", 1, 1024);
	sample_stack(&profile, "main;start", 5, 8);
	struct calltree tree = tree_of(&profile, &in_use);
	check_whole(&tree);
	check_text(&tree, INUSE_SPACE,
		   "all 4136(0) [main 4136(0) [serve 4096(1024) [store 3072(0) [copy 3072(3072)]] "
		   "start 40(40)]]");
	check_text(&tree, ALLOC_OBJECTS,
		   "all 18(0) [main 18(0) [serve 8(2) [store 6(0) [copy 6(6)]] start 10(10)]]");
	CHECK_EQ(tree.folded, 0);
	CHECK_STR(tree.place[tree.node[1].function].file, "src/file.c");
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(siblings_by_name)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;b", 9, 10);
	sample_stack(&profile, "main;c", 1, 10);
	sample_stack(&profile, "main;a", 4, 10);
	struct calltree tree = tree_of(&profile, &in_use);
	check_text(&tree, INUSE_OBJECTS, "all 14(0) [main 14(0) [b 9(9) a 4(4) c 1(1)]]");
	calltree_close(&tree);
	tree = tree_of(&profile, &(struct calltree_options){
					 .type = INUSE_SPACE, .limit = 1000, .by_name = true});
	check_text(&tree, INUSE_OBJECTS, "all 14(0) [main 14(0) [a 4(4) b 9(9) c 1(1)]]");
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(recursion_and_empty_stacks)
{
	struct profile profile = sample_open();

	sample_stack(&profile, "main;f;f;g;f", 2, 10);
	sample_frames(&profile, NULL, 0, 3, 10);
	struct calltree tree = tree_of(&profile, &in_use);
	check_whole(&tree);
	check_text(&tree, INUSE_SPACE,
		   "all 50(30) [main 20(0) [f 20(0) [f 20(0) [g 20(0) [f 20(20)]]]]]");
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(nothing_at_all)
{
	struct profile profile = sample_open();
	struct calltree tree = tree_of(&profile, &in_use);

	check_text(&tree, INUSE_SPACE, "all 0(0)");
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(both_sides_of_a_comparison)
{
	struct profile new = sample_open(), old = sample_open();

	sample_stack(&new, "main;kept", 5, 10);
	sample_stack(&new, "main;added", 1, 10);
	sample_stack(&old, "main;kept", 2, 10);
	sample_stack(&old, "main;gone", 4, 10);
	sample_compare(&new, &old);
	struct calltree tree = tree_of(&new, &in_use);
	check_whole(&tree);
	check_text(&tree, INUSE_SPACE,
		   "all 0(0) [main 0(0) [kept 30(30) added 10(10) gone -40(-40)]]");
	CHECK_EQ(tree.node[1].total[INUSE_SPACE].base, 60);
	CHECK_EQ(tree.node[4].self[INUSE_SPACE].base, 40);
	calltree_close(&tree);
	profile_close(&new);
}

UNIT_TEST(light_ones_are_folded)
{
	struct profile profile = sample_open();
	struct calltree_options options = {.type = INUSE_SPACE, .limit = 1000, .fraction = 0.1};

	sample_stack(&profile, "main;big", 90, 10);
	sample_stack(&profile, "main;tiny;deep;deeper", 4, 10);
	sample_stack(&profile, "main;small", 6, 10);
	struct calltree tree = tree_of(&profile, &options);
	check_whole(&tree);
	check_text(&tree, INUSE_SPACE,
		   "all 1000(0) [main 1000(0) [big 900(900) (other) 100(100)]]");
	CHECK_EQ(tree.folded, 4);
	calltree_close(&tree);
	/* What is heavy in another type stays, unless only this one counts. */
	profile.row[1].alloc_count = 100000;
	tree = tree_of(&profile, &options);
	check_text(&tree, INUSE_SPACE,
		   "all 1000(0) [main 1000(0) [big 900(900) tiny 40(0) [deep 40(0) [deeper "
		   "40(40)]] (other) 60(60)]]");
	calltree_close(&tree);
	options.is_only_type = true;
	tree = tree_of(&profile, &options);
	check_text(&tree, INUSE_SPACE,
		   "all 1000(0) [main 1000(0) [big 900(900) (other) 100(100)]]");
	calltree_close(&tree);
	profile_close(&profile);
}

/*
 * However many stacks there are: no more nodes than asked for, the heaviest among them, and nothing
 * lost.
 */
UNIT_TEST(limit)
{
	static const size_t limits[] = {2, 3, 10, 57, 400, 1999};
	struct profile profile = sample_open();
	double total = 0;
	char names[64];

	for (unsigned i = 0; i < 900; i++) {
		snprintf(names, sizeof(names), "main;a%u;b%u;c%u", i % 7, i % 61, i);
		sample_stack(&profile, names, 1 + i * i % 97, 16);
		total += 16 * (1 + i * i % 97);
	}
	sample_stack(&profile, "main;heavy", 100000, 16);
	total += 1600000;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct calltree tree =
			tree_of(&profile, &(struct calltree_options){.type = INUSE_SPACE,
								     .limit = limits[i]});
		bool has_heavy = false;

		check_whole(&tree);
		CHECK(tree.count <= limits[i]);
		CHECK(tree.count > limits[i] / 2 || tree.count == 2);
		CHECK(tree.node[0].total[INUSE_SPACE].value == total);
		for (size_t n = 0; n < tree.count; n++)
			has_heavy |= strcmp(calltree_name(&tree, &tree.node[n]), "heavy") == 0;
		CHECK(has_heavy == (limits[i] >= 10));
		calltree_close(&tree);
	}
	profile_close(&profile);
}

UNIT_TEST(cut_to_another_size)
{
	struct profile profile = sample_open();
	char names[64];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(names, sizeof(names), "main;a%u;b%u", i % 7, i);
		sample_stack(&profile, names, 1 + i * i % 97, 16);
	}
	struct calltree tree = tree_of(&profile, &in_use);
	CHECK_EQ(tree.count, 209);
	for (size_t limit = 4; limit <= 400; limit *= 10) {
		struct calltree other = tree_of(
			&profile, &(struct calltree_options){.type = INUSE_SPACE, .limit = limit});
		char *text = text_of(&other, INUSE_SPACE);

		CHECK_EQ(calltree_cut(&tree, limit), 0);
		check_whole(&tree);
		check_text(&tree, INUSE_SPACE, text);
		CHECK_EQ(tree.folded, other.folded);
		free(text);
		calltree_close(&other);
	}
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_MAIN()
