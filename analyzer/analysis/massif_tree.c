/* SPDX-License-Identifier: MIT */
/*
 * massif_tree.c - see massif_tree.h.
 *
 * The stacks are sorted by their steps from the leaf on, so each node of the tree is a range of
 * stacks, and its children are subranges of it. Start at massif_tree_write().
 */
#include "massif_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "frame_label.h"
#include "stack_sums.h"
#include "text_out.h"

#define THRESHOLD 0.01
#define DEPTH_MAX 200u /* levels, each a recursion of print_node(); ms_print recurses, too */

struct tree {
	const struct profile *profile;
	struct stack_sums stacks;
	uint32_t *frame_of;
	double least;
	FILE *out;
};
/* Stacks first to end - 1, which have their first `depth` steps in common. */
struct node {
	size_t first, end, depth;
	double bytes;
};

static double bytes_of(const struct stack_sum *sum)
{
	return sum->value[INUSE_SPACE] > 0 ? sum->value[INUSE_SPACE] : 0;
}

/* The child whose first stack is `first`: this stack and those after it with the same next step. */
static struct node child_at(const struct tree *tree, const struct node *parent, size_t first)
{
	struct node child = {.first = first, .end = first, .depth = parent->depth + 1};
	const uint32_t step = tree->stacks.sum[first].step[parent->depth];

	for (; child.end < parent->end && tree->stacks.sum[child.end].step[parent->depth] == step;
	     child.end++)
		child.bytes += bytes_of(&tree->stacks.sum[child.end]);
	return child;
}

/*
 * The first stack of a node that goes on below it. Stacks that end at the node come first and have
 * no child.
 */
static size_t first_longer(const struct tree *tree, const struct node *node)
{
	size_t first = node->first;

	while (first < node->end && tree->stacks.sum[first].count == node->depth)
		first++;
	return node->depth < DEPTH_MAX ? first : node->end;
}

struct small {
	size_t count;
	double bytes;
};

/* Returns how many children are shown, and sums up the others in *small. */
static size_t count_children(const struct tree *tree, const struct node *node, struct small *small)
{
	size_t shown = 0;

	*small = (struct small){0};
	for (size_t at = first_longer(tree, node); at < node->end;) {
		const struct node child = child_at(tree, node, at);

		if (child.bytes >= tree->least && child.bytes > 0)
			shown++;
		else if (child.bytes > 0) {
			small->count++;
			small->bytes += child.bytes;
		}
		at = child.end;
	}
	return shown;
}

static void indent(const struct tree *tree, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		putc(' ', tree->out);
}

static void print_place(const struct tree *tree, const struct node *node)
{
	const uint32_t call = tree->stacks.sum[node->first].step[node->depth - 1];
	char *text =
		frame_label(tree->profile, &tree->stacks.functions, tree->frame_of[call], call);

	/* ms_print takes a # anywhere as the start of a comment. */
	for (char *at = text; at && *at; at++)
		*at = *at == '#' ? '?' : *at;
	text_plain(text, "???", tree->out);
	free(text);
}

static void print_node(const struct tree *tree, const struct node *node)
{
	struct small small;
	const size_t shown = count_children(tree, node, &small);

	indent(tree, node->depth);
	fprintf(tree->out, "n%zu: %" PRId64 " ", shown + (small.count > 0),
		text_whole(node->bytes));
	if (node->depth)
		print_place(tree, node);
	else
		fputs("(heap allocation functions) malloc/new/new[], and what leads to them",
		      tree->out);
	putc('\n', tree->out);
	for (size_t at = first_longer(tree, node); at < node->end;) {
		const struct node child = child_at(tree, node, at);

		if (child.bytes >= tree->least && child.bytes > 0)
			print_node(tree, &child);
		at = child.end;
	}
	if (!small.count)
		return;
	indent(tree, node->depth + 1);
	fprintf(tree->out, "n0: %" PRId64 " in %zu places, all below the threshold (%.2f%%)\n",
		text_whole(small.bytes), small.count, 100 * THRESHOLD);
}

int massif_tree_write(const struct profile *profile, FILE *out)
{
	struct tree tree = {.profile = profile, .out = out};
	struct node root = {0};
	int err = stack_sums_open(profile, STEPS_BY_CALL, STEPS_LEAF_FIRST, &tree.stacks);

	if (err)
		return err;
	tree.frame_of = frame_label_frames(profile, &tree.stacks.functions);
	root.end = tree.stacks.count;
	for (size_t i = 0; i < root.end; i++)
		root.bytes += bytes_of(&tree.stacks.sum[i]);
	tree.least = root.bytes * THRESHOLD;
	if (tree.frame_of)
		print_node(&tree, &root);
	err = tree.frame_of ? 0 : -ENOMEM;
	free(tree.frame_of);
	stack_sums_close(&tree.stacks);
	return err;
}
