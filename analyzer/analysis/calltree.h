/* SPDX-License-Identifier: MIT */
/*
 * calltree.h - a profile folded into one tree of functions, from the root of the stacks to their leaves. What flame graphs are drawn from.
 *
 * Nodes stand in preorder: a node's first child is behind it, its next sibling at its `end`. Each knows of every sample type what was allocated right there
 * (self) and in all that lies below (total), so that a view can switch between them. The tree is bounded: what is too light is added up in one child of the
 * node under which it lies, function CALLTREE_OTHER. Values are those of estimate.h: signed in a comparison.
 */
#ifndef HI_CALLTREE_H
#define HI_CALLTREE_H

#include "estimate.h"
#include "functions.h"

#define CALLTREE_ROOT UINT32_MAX        /* node 0 */
#define CALLTREE_OTHER (UINT32_MAX - 1) /* many light ones; has no children */

struct calltree_node {
	uint32_t function; /* as in functions.h, or one of the above */
	uint32_t parent;   /* index; that of the root is itself */
	uint32_t end;      /* index behind its last descendant */
	uint32_t depth;    /* 0 = root */
	struct estimate self[SAMPLE_TYPE_COUNT], total[SAMPLE_TYPE_COUNT];
};

/* Where a function is, as its first call says. */
struct calltree_place {
	const char *file;   /* NULL = unknown; lives as long as the profile */
	const char *module; /* path, likewise */
};

struct calltree_options {
	enum sample_type type; /* what siblings are sorted by, heaviest first; and what is light, if it is the only one that counts */
	bool is_only_type;
	bool by_name;    /* siblings are sorted by name instead, "(other)" last */
	size_t limit;    /* nodes at most; at least 2 */
	double fraction; /* a function below this part of the whole is light */
};

struct calltree {
	struct calltree_node *node;
	size_t count;
	size_t folded;                /* nodes that are in others */
	struct calltree_place *place; /* by function */
	struct functions functions;
	struct calltree_source *source; /* private */
};

/* 0 or -ENOMEM. Keeps a pointer to the profile. */
int calltree_open(const struct profile *profile, const struct calltree_options *options, struct calltree *out_tree);
/* The same tree of another size, up to the one with which it was opened, in a part of the time. 0 or -ENOMEM; nodes are others then. */
int calltree_cut(struct calltree *tree, size_t limit);
void calltree_close(struct calltree *tree);
/* "all" of the root, "(other)"; lives as long as the tree. */
const char *calltree_name(const struct calltree *tree, const struct calltree_node *node);

#endif
