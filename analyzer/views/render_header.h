/* SPDX-License-Identifier: MIT */
/*
 * render_header.h - what every report says first: whose profile it is, how it was taken, how much there is and how sure that is.
 */
#ifndef HI_RENDER_HEADER_H
#define HI_RENDER_HEADER_H

#include "callgraph_trim.h"
#include "render.h"

enum render_unit { UNIT_AUTO, UNIT_B, UNIT_KB, UNIT_MB, UNIT_GB, UNIT_TB };

/* Whole lines. total is the estimate for the whole profile, of the type that is shown. */
void render_header(const struct profile *profile, enum sample_type type, const struct estimate *total, FILE *out);
/*
 * What the rows below account for: as pprof says it. order[count] are the nodes that are shown; limits and dropped say what is not, and why.
 */
void render_shown(const struct callgraph *graph, const uint32_t *order, size_t count, const struct callgraph_limits *limits,
		  const struct callgraph_dropped *dropped, enum sample_type type, FILE *out);
/* "kb", "megabytes", "auto": 0 or -EINVAL. All sizes in all views are from then on written in that unit; AUTO, at first, gives each its own. */
int render_use_unit(const char *name);
/* "1.50MB" or "1500", by type. Returns text, which holds at least HI_UNITS_TEXT_MAX bytes. */
char *render_value(double value, enum sample_type type, char *text);
/* "12.34%" as pprof writes it, six characters. */
char *render_percent(double value, double total, char *text);

#endif
