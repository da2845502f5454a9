/* SPDX-License-Identifier: MIT */
/* Command: work = grows a tree of known shape and cuts some of it, the same each time. */
#include "../target.h"

struct tree {
	struct tree *left, *right;
	char payload[100];
};

static struct tree *kept[1000];
static size_t kept_count;

__attribute__((noinline)) static struct tree *branch(int depth)
{
	struct tree *tree = malloc(sizeof(*tree));

	tree->left = depth ? branch(depth - 1) : NULL;
	tree->right = depth ? branch(depth - 1) : NULL;
	return tree;
}

__attribute__((noinline)) static void cut(struct tree *tree)
{
	if (!tree)
		return;
	cut(tree->left);
	cut(tree->right);
	free(tree);
}

__attribute__((noinline)) static void work(void)
{
	struct tree *tree = branch(9);

	cut(tree->left);
	tree->left = NULL;
	kept[kept_count++ % 1000] = tree;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		work();
		target_say("done\n");
	}
	return 0;
}
