/* SPDX-License-Identifier: MIT */
/*
 * html_data.h - the data of the HTML page: one JSON object, which html/model.js reads.
 *
 * The object has columns instead of rows, because columns are shorter and faster to parse. `names`
 * holds each distinct string once, and the other fields refer to strings by their index; index 0 is
 * the empty string.
 *
 *     title, host, command, report     texts; report: the header lines of every report
 *     pid, start, duration, interval, samples, complete (a fraction), isScaled; null or 0 = unknown
 *     type                             the sample type that the page shows first
 *     types[]                          kind ("alloc", "inuse"), isBytes, isUnsure (no interval:
 *                                      caveats.h)
 *     isComparison, folded             folded: number of light nodes that are part of "(other)"
 *     functions.name[], .module[], .file[]
 *     nodes.function[], .depth[]       the call tree in preorder; function -1: all, -2: (other)
 *     nodes.self[type][]               of the new side, bytes or objects, in whole numbers: the sum
 *                                      over a subtree differs from its true total by at most 1
 *     nodes.base[type][]               of the base side, likewise; absent if this is no comparison
 *     nodes.deviation[type][], .unit[] square root of estimate.variance, and estimate.unit, of the
 *                                      node itself; absent where all figures are exact
 *
 * The object has no '<' in it, so it can be part of a <script> element whatever the functions are
 * named.
 */
#ifndef HI_HTML_DATA_H
#define HI_HTML_DATA_H

#include <stdio.h>

#include "calltree.h"

/* Returns 0 or -ENOMEM. It does not check `out` for write errors. */
int html_data_write(const struct profile *profile, const struct calltree *tree,
		    enum sample_type type, FILE *out);

#endif
