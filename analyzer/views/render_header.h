/* SPDX-License-Identifier: MIT */
/*
 * render_header.h - the first lines of every report: which process was profiled and how, how much
 * memory it holds, and how precise the figures are.
 */
#ifndef HI_RENDER_HEADER_H
#define HI_RENDER_HEADER_H

#include "callgraph_trim.h"
#include "render.h"
#include "render_units.h"

/* Prints whole lines. total: the estimate for the whole profile, of the type that is shown. */
void render_header(const struct profile *profile, enum sample_type type,
		   const struct estimate *total, FILE *out);
/* The same without what a reader rarely needs: peak, waste, and most of a long command line. */
void render_header_brief(const struct profile *profile, enum sample_type type,
			 const struct estimate *total, FILE *out);
/*
 * Prints what the rows after it account for, in pprof's words. order[count] are the nodes that are
 * shown; limits and dropped say which are not, and why.
 */
void render_shown(const struct callgraph *graph, const uint32_t *order, size_t count,
		  const struct callgraph_limits *limits, const struct callgraph_dropped *dropped,
		  enum sample_type type, FILE *out);

#endif
