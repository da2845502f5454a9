/* SPDX-License-Identifier: MIT */
/*
 * render_header.h - the first lines of every report: which process was profiled and how, how much
 * memory it holds, and how precise the figures are.
 */
#ifndef HI_RENDER_HEADER_H
#define HI_RENDER_HEADER_H

#include "callgraph_trim.h"
#include "render.h"

enum render_unit { UNIT_AUTO, UNIT_B, UNIT_KB, UNIT_MB, UNIT_GB, UNIT_TB };

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
/*
 * Sets the unit in which all views write all sizes, from "kb", "megabytes", "auto". Returns 0 or
 * -EINVAL. UNIT_AUTO, the default, chooses a unit for each size.
 */
int render_use_unit(const char *name);
/*
 * Writes "1.50MB" or "1500", depending on the type, into text, which has room for at least
 * HI_UNITS_TEXT_MAX bytes. Returns text.
 */
char *render_value(double value, enum sample_type type, char *text);
/* "12.34%" as pprof writes it: six characters. */
char *render_percent(double value, double total, char *text);

#endif
