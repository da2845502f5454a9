/* SPDX-License-Identifier: MIT */
/*
 * render_dot.h - a call graph in the language of graphviz.
 */
#ifndef HI_RENDER_DOT_H
#define HI_RENDER_DOT_H

#include <stdio.h>

#include "callgraph.h"

/* header: lines for the box at the top left. The caller checks the stream for write errors. */
void render_dot(const struct callgraph *graph, enum sample_type type, const char *header,
		FILE *out);

#endif
