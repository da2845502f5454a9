// SPDX-License-Identifier: MIT
// A list, of which the head is lost, and a tree, of which a branch is cut off.
// want: direct push 40 1, indirect push 160 4, direct grow 64 1, indirect grow 384 6
#include "leaky.h"

struct node {
	struct node *next;
	char text[32];
};
struct branch {
	struct branch *left, *right;
	char text[48];
};
static struct branch *root;

static APART struct node *push(struct node *list)
{
	struct node *node = used(malloc(sizeof(*node)));

	node->next = list;
	return node;
}

static APART struct branch *grow(int depth)
{
	struct branch *branch = used(calloc(1, sizeof(*branch)));

	if (depth) {
		branch->left = grow(depth - 1);
		branch->right = grow(depth - 1);
	}
	return branch;
}

static APART void lose_list(void)
{
	struct node *list = NULL;

	for (int i = 0; i < 5; i++)
		list = push(list);
	used(list);
}

static APART void cut(void)
{
	root = grow(3);
	root->left = NULL;
}

int main(void)
{
	lose_list();
	cut();
	used(&root);
	wipe();
	return 0;
}
