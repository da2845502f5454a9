/* SPDX-License-Identifier: MIT */
/*
 * pruned_tree.h - the bare tree of all stacks: a few words for each node, of those that are heavy enough to be shown at all.
 *
 * A million stacks make a tree of some twenty million nodes, most of which are the way of one stack alone. They are counted, but not kept. A parent is never
 * lighter than its child, and always has the lower index.
 */
#ifndef HI_PRUNED_TREE_H
#define HI_PRUNED_TREE_H

#include "estimate.h"
#include "functions.h"

#define PRUNED_ROOT UINT32_MAX       /* its function */
#define PRUNED_REST (UINT32_MAX - 1) /* all that is too light below its parent; without weight */

struct pruned_node {
	uint32_t function, parent;
	uint32_t image;                  /* for who asked for them */
	float weight[SAMPLE_TYPE_COUNT]; /* with all below, of both sides of a comparison */
};
struct pruned_tree {
	struct pruned_node *pruned_node; /* [0] is the root */
	size_t count;
	size_t node_count; /* of the whole tree */
	uint32_t *leaf;    /* by stack: where it ends, or what that is a part of */
};
struct pruned_tree_options {
	size_t enough;              /* as many nodes are kept, those with the largest share of the whole; and some more */
	const enum sample_type *by; /* of this type; NULL = of the one in which it is largest */
};

/* 0 or -ENOMEM. The functions are opened with them, and stay open. */
int pruned_tree_open(const struct profile *profile, const struct pruned_tree_options *options, struct functions *out_functions, struct pruned_tree *out_tree);
void pruned_tree_close(struct pruned_tree *pruned_tree);
/* The part of the whole that it is. */
double pruned_node_share(const struct pruned_node *root, const struct pruned_node *pruned_node, const enum sample_type *by);

#endif
