/* SPDX-License-Identifier: MIT */
/*
 * calltree_paths.h - finds the node of a call tree at which a stack ends: of the profile that the
 * tree was made of, or of another one, whose functions are compared by name.
 *
 * A stack that leaves the tree, because its calls were too light or are of another profile, ends at
 * the CALLTREE_OTHER child where it leaves, or at the last node on its way if there is none.
 */
#ifndef HI_CALLTREE_PATHS_H
#define HI_CALLTREE_PATHS_H

#include "calltree.h"

struct calltree_paths {
	const struct calltree *tree;
	struct table by_call;           /* of nodes, by parent and function */
	struct table by_name;           /* of functions of the tree */
	const struct functions *others; /* of the profile whose stacks are sought */
	uint32_t *function_of; /* by function of that profile: the tree's; CALLTREE_ROOT = none */
};

/* 0 or -ENOMEM. The caller closes the paths in either case. The tree must not be cut meanwhile. */
int calltree_paths_open(const struct calltree *tree, struct calltree_paths *out_paths);
void calltree_paths_close(struct calltree_paths *paths);
/* From now on stacks are of this profile. Keeps the pointer to its functions. 0 or -ENOMEM. */
int calltree_paths_use(struct calltree_paths *paths, const struct functions *functions);
/* The node's child of this function of the tree; 0, the root's index, if it has none. */
uint32_t calltree_paths_child(const struct calltree_paths *paths, uint32_t parent,
			      uint32_t function);
/* Where a stack ends that leaves the tree at this node. */
uint32_t calltree_paths_other(const struct calltree_paths *paths, uint32_t parent);
/* Returns the node where the stack ends. */
uint32_t calltree_paths_leaf(const struct calltree_paths *paths, const struct profile_stack *stack);

#endif
