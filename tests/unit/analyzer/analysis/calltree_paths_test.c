/* SPDX-License-Identifier: MIT */
/*
 * calltree_paths_test.c - where stacks end in a tree: those that it was made of, light ones that
 * are summed up, and those of another profile.
 */
#include "unit.h"

#include "calltree_paths.h"
#include "sample_profile.h"

/* The names on the way to the node where a stack of the profile ends, root first. */
static void check_leaf(const struct calltree_paths *paths, const struct profile *profile,
		       uint32_t stack, const char *wanted)
{
	const struct calltree *tree = paths->tree;
	uint32_t node = calltree_paths_leaf(paths, &profile->stack[stack]);
	char text[256] = "";

	for (; node; node = tree->node[node].parent) {
		const char *name = calltree_name(tree, &tree->node[node]);
		const size_t size = strlen(name) + 1;

		CHECK(strlen(text) + size < sizeof(text));
		memmove(text + size, text, strlen(text) + 1);
		text[0] = ';';
		memcpy(text + 1, name, size - 1);
	}
	CHECK_STR(text, wanted);
}

/* The same of a stack of the profile that the tree was made of, which the tree knows, too. */
static void check_own_leaf(const struct calltree_paths *paths, const struct profile *profile,
			   uint32_t stack, const char *wanted)
{
	check_leaf(paths, profile, stack, wanted);
	CHECK_EQ(calltree_leaf(paths->tree, stack),
		 calltree_paths_leaf(paths, &profile->stack[stack]));
}

static struct calltree open_tree(const struct profile *profile, size_t limit)
{
	const struct calltree_options options = {.type = INUSE_SPACE, .limit = limit};
	struct calltree tree;

	CHECK_EQ(calltree_open(profile, &options, &tree), 0);
	return tree;
}

static void use(struct calltree_paths *paths, const struct profile *profile,
		struct functions *functions)
{
	CHECK_EQ(functions_open(profile, functions), 0);
	CHECK_EQ(calltree_paths_use(paths, functions), 0);
}

UNIT_TEST(own_stacks)
{
	struct profile profile = sample_open();
	struct functions functions;
	struct calltree_paths paths;

	sample_stack(&profile, "main;serve;a", 1, 100);
	sample_stack(&profile, "main;a;serve", 1, 100);
	sample_stack(&profile, "main;a<b", 1, 100);
	struct calltree tree = open_tree(&profile, 100);
	CHECK_EQ(calltree_paths_open(&tree, &paths), 0);
	use(&paths, &profile, &functions);
	check_own_leaf(&paths, &profile, 0, ";main;serve;a");
	check_own_leaf(&paths, &profile, 1, ";main;a;serve");
	check_own_leaf(&paths, &profile, 2, ";main;b;a");
	calltree_paths_close(&paths);
	functions_close(&functions);
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(light_stacks_end_at_other)
{
	struct profile profile = sample_open();
	struct functions functions;
	struct calltree_paths paths;
	char names[64];

	sample_stack(&profile, "main;heavy", 1000, 100);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(names, sizeof(names), "main;serve;light%u", i);
		sample_stack(&profile, names, 1, 100);
	}
	struct calltree tree = open_tree(&profile, 5);
	CHECK_EQ(calltree_paths_open(&tree, &paths), 0);
	use(&paths, &profile, &functions);
	check_own_leaf(&paths, &profile, 0, ";main;heavy");
	check_own_leaf(&paths, &profile, 20, ";main;serve;(other)");
	calltree_paths_close(&paths);
	functions_close(&functions);
	calltree_close(&tree);
	profile_close(&profile);
}

UNIT_TEST(stacks_of_another_profile)
{
	struct profile profile = sample_open(), other = sample_open();
	struct functions functions;
	struct calltree_paths paths;

	sample_stack(&profile, "main;serve;a", 1, 100);
	sample_stack(&other, "never;seen", 1, 100);
	sample_stack(&other, "main;serve;a", 1, 100);
	sample_stack(&other, "main;serve;unknown;a", 1, 100);
	struct calltree tree = open_tree(&profile, 100);
	CHECK_EQ(calltree_paths_open(&tree, &paths), 0);
	use(&paths, &other, &functions);
	check_leaf(&paths, &other, 0, "");
	check_leaf(&paths, &other, 1, ";main;serve;a");
	check_leaf(&paths, &other, 2, ";main;serve");
	calltree_paths_close(&paths);
	functions_close(&functions);
	calltree_close(&tree);
	profile_close(&other);
	profile_close(&profile);
}

UNIT_MAIN()
