/* SPDX-License-Identifier: MIT */
/*
 * html_nodes.h - what the page knows of the nodes of its call tree beside their figures: source
 * lines, what is folded, when what is in use was allocated, by which threads, which of it grows.
 *
 * These are sums over the rows of a profile by the node at which their stacks end.
 */
#ifndef HI_HTML_NODES_H
#define HI_HTML_NODES_H

#include <stdio.h>

#include "answer.h"
#include "calltree_paths.h"
#include "profile_set.h"

struct html_nodes {
	const struct profile *profile;
	const struct calltree *tree;
	struct calltree_paths paths;
	struct functions functions; /* of the profile */
	uint32_t *leaf;             /* by stack: the node at which it ends */
	uint32_t *line;             /* by node: of its call on the heaviest stack; 0 = unknown */
	double *weight;             /* by node: of that stack */
	bool *is_kept;              /* by node: a person would look at it on some stack */
};

/* 0 or -ENOMEM. The caller closes it in either case. */
int html_nodes_open(const struct profile *profile, const struct calltree *tree,
		    const struct user_frames_options *user_frames, struct html_nodes *out_nodes);
void html_nodes_close(struct html_nodes *nodes);
/*
 * The following write one member of an object each, null where nothing is known. 0 or -ENOMEM. They
 * do not check `out` for write errors.
 */
/* What is in use, by the time at which it was allocated: "ages". */
int html_nodes_write_ages(const struct html_nodes *nodes, FILE *out);
/* The threads that allocated it: "threads". */
int html_nodes_write_threads(const struct html_nodes *nodes, FILE *out);
/* The nodes at which stacks end that grow, by the answer; NULL = there is none: "growing". */
void html_nodes_write_growing(const struct html_nodes *nodes, const struct answer *answer,
			      FILE *out);
/* The figures of each profile of the set at the same nodes: "snapshots". */
int html_nodes_write_snapshots(struct html_nodes *nodes, const struct profile_set *set, FILE *out);

#endif
