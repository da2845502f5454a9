/* SPDX-License-Identifier: MIT */
/*
 * calltree.h - a profile folded into one tree of functions, from the roots of the stacks to their
 * leaves.
 *
 * Flame graphs are drawn from it. Nodes are stored in preorder: a node's first child is the next
 * node, and its next sibling is at index `end`. Each node holds, for every sample type, what its
 * function allocated there (self) and what the whole subtree allocated (total), so a view can
 * switch between the types.
 *
 * The tree is bounded. Subtrees that are too light are added up in one child of their parent; the
 * function of this child is CALLTREE_OTHER. Values are those of estimate.h: signed in a comparison.
 */
#ifndef HI_CALLTREE_H
#define HI_CALLTREE_H

#include "estimate.h"
#include "functions.h"

#define CALLTREE_ROOT UINT32_MAX        /* node 0 */
#define CALLTREE_OTHER (UINT32_MAX - 1) /* the sum of many light subtrees; has no children */

#define CALLTREE_LEAST 2u /* no limit of nodes is lower */

struct calltree_node {
	uint32_t function; /* as in functions.h, or one of the above */
	uint32_t parent;   /* index; the root is its own parent */
	uint32_t end;      /* index after its last descendant */
	uint32_t depth;    /* 0 = root */
	struct estimate self[SAMPLE_TYPE_COUNT], total[SAMPLE_TYPE_COUNT];
};

/* Where a function is, according to its first call. */
struct calltree_place {
	const char *file;   /* NULL = unknown; lives as long as the profile */
	const char *module; /* path, likewise */
};

struct calltree_options {
	/*
	 * siblings are sorted by this type, heaviest first; with is_only_type it alone decides what
	 * is light
	 */
	enum sample_type type;
	bool is_only_type;
	bool by_name; /* sort siblings by name instead, "(other)" last */
	size_t limit; /* largest number of nodes; at least CALLTREE_LEAST */
	/* a subtree below this fraction of the total is light */
	double fraction;
};

struct calltree {
	struct calltree_node *node;
	size_t count;
	size_t folded;                /* nodes added up in CALLTREE_OTHER nodes */
	struct calltree_place *place; /* by function */
	struct functions functions;
	struct calltree_source *source; /* private */
};

/* Returns 0 or -ENOMEM. The tree keeps a pointer to the profile. */
int calltree_open(const struct profile *profile, const struct calltree_options *options,
		  struct calltree *out_tree);
/*
 * Rebuilds the tree with another limit, at most the one with which it was opened. This takes a
 * fraction of the time of calltree_open(). Returns 0 or -ENOMEM. The old nodes become invalid.
 */
int calltree_cut(struct calltree *tree, size_t limit);
void calltree_close(struct calltree *tree);
/*
 * The node at which a stack of the profile ends, or the CALLTREE_OTHER node that covers it; the
 * root if the stack holds nothing of any type.
 */
uint32_t calltree_leaf(const struct calltree *tree, uint32_t stack);
/*
 * The name of a node's function; "all" for the root, "(other)" for CALLTREE_OTHER. Lives as long as
 * the tree.
 */
const char *calltree_name(const struct calltree *tree, const struct calltree_node *node);

#endif
