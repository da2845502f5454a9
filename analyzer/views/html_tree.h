/* SPDX-License-Identifier: MIT */
/*
 * html_tree.h - the call tree as part of the page's data (html_data.h): its strings, its functions,
 * and the figures of its nodes.
 */
#ifndef HI_HTML_TREE_H
#define HI_HTML_TREE_H

#include <stdio.h>

#include "html_nodes.h"

/* Writes whole members of an object. 0 or -ENOMEM. It does not check `out` for write errors. */
int html_tree_write(const struct calltree *tree, const struct html_nodes *nodes, bool is_comparison,
		    FILE *out);
#endif
