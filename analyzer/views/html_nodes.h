/* SPDX-License-Identifier: MIT */
/*
 * html_nodes.h - the way of each stack through the call tree of the page: where it ends, the source
 * lines that it passes, and which of its calls a person would look at.
 */
#ifndef HI_HTML_NODES_H
#define HI_HTML_NODES_H

#include "calltree_paths.h"
#include "user_frames.h"

struct html_nodes {
	const struct profile *profile;
	const struct calltree *tree;
	struct calltree_paths paths;
	uint32_t *leaf; /* by stack: the node at which it ends */
	uint32_t *line; /* by node: of its call on the heaviest stack; 0 = unknown */
	bool *is_kept;  /* by node: a person would look at it on some stack */
};

/* 0 or -ENOMEM. The caller closes it in either case. */
int html_nodes_open(const struct profile *profile, const struct calltree *tree,
		    const struct user_frames_options *user_frames, struct html_nodes *out_nodes);
/*
 * Cuts the tree, as calltree_cut(), and takes what is known of its nodes along: no stack is
 * followed again. 0 or -ENOMEM.
 */
int html_nodes_cut(struct html_nodes *nodes, struct calltree *tree, size_t limit);
void html_nodes_close(struct html_nodes *nodes);
#endif
