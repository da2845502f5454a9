/* SPDX-License-Identifier: MIT */
/*
 * html_figures.h - what the page knows of the nodes of its call tree beside the figures of the
 * tree: when what is in use was allocated, by which threads, which of it grows, and what other
 * profiles have there.
 *
 * These are sums over the rows of a profile by the node at which their stacks end.
 */
#ifndef HI_HTML_FIGURES_H
#define HI_HTML_FIGURES_H

#include <stdio.h>

#include "answer.h"
#include "html_nodes.h"
#include "profile_set.h"

/*
 * The following write one member of an object each, null where nothing is known. 0 or -ENOMEM. They
 * do not check `out` for write errors.
 */
/* What is in use, by the time at which it was allocated: "ages". */
int html_figures_write_ages(const struct html_nodes *nodes, FILE *out);
/* The threads that allocated it: "threads". */
int html_figures_write_threads(const struct html_nodes *nodes, FILE *out);
/* The nodes at which stacks end that grow, by the answer; NULL = there is none: "growing". */
void html_figures_write_growing(const struct html_nodes *nodes, const struct answer *answer,
				FILE *out);
/* The figures of each profile of the set at the same nodes: "snapshots". */
int html_figures_write_snapshots(struct html_nodes *nodes, const struct profile_set *set,
				 FILE *out);

#endif
