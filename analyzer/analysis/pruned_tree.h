/* SPDX-License-Identifier: MIT */
/*
 * pruned_tree.h - the tree of all stacks, reduced to the nodes that are heavy enough to be shown.
 * Each node takes a few words.
 *
 * A million stacks make a tree of some twenty million nodes. Most of these lie on the path of one
 * stack only; they are counted, but not kept. A parent is never lighter than its child and always
 * has the lower index.
 */
#ifndef HI_PRUNED_TREE_H
#define HI_PRUNED_TREE_H

#include "estimate.h"
#include "functions.h"

#define PRUNED_ROOT UINT32_MAX       /* the function of the root */
#define PRUNED_REST (UINT32_MAX - 1) /* sum of the light nodes below its parent; has no weight */

struct pruned_node {
	uint32_t function, parent;
	uint32_t image;                  /* for the caller's use */
	float weight[SAMPLE_TYPE_COUNT]; /* of the subtree, both sides of a comparison added */
};
struct pruned_tree {
	struct pruned_node *pruned_node; /* [0] is the root */
	size_t count;
	size_t node_count; /* before pruning */
	uint32_t *leaf;    /* by stack: where it ends, or the PRUNED_REST node that covers it */
};
struct pruned_tree_options {
	/*
	 * the number of nodes to keep, those with the largest share of the total; the tree adds
	 * PRUNED_REST nodes to these
	 */
	size_t enough;
	/* the share counts in this type; NULL = in the type where the node's share is largest */
	const enum sample_type *by;
};

/*
 * Returns 0 or -ENOMEM. On success *out_functions is open, too. pruned_tree_close() does not close
 * it.
 */
int pruned_tree_open(const struct profile *profile, const struct pruned_tree_options *options,
		     struct functions *out_functions, struct pruned_tree *out_tree);
void pruned_tree_close(struct pruned_tree *pruned_tree);
/* The node's weight as a fraction of the root's. by: as in struct pruned_tree_options. */
double pruned_node_share(const struct pruned_node *root, const struct pruned_node *pruned_node,
			 const enum sample_type *by);

#endif
