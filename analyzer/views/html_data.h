/* SPDX-License-Identifier: MIT */
/*
 * html_data.h - what the HTML page knows of a profile: one JSON object, of which html/model.js is the reader.
 *
 * Columns instead of rows, as they are short and quick to read. `names` holds each string once; other fields number them, 0 being the empty one.
 *
 *     title, host, command, report     texts; report: what every report says first, in lines
 *     pid, start, duration, interval, samples, complete (a share), isScaled; null or 0 = unknown
 *     type                             the sample type to begin with; types[]: kind ("alloc", "inuse"), isBytes, isUnsure (no interval: caveats.h)
 *     isComparison, folded             folded: how many light paths are in "(other)"
 *     functions.name[], .module[], .file[]
 *     nodes.function[], .depth[]       the call tree in preorder; function -1: all, -2: (other)
 *     nodes.self[type][]               of the new side, bytes or objects, in whole numbers: those of a node and all below add up to its total but for 1
 *     nodes.base[type][]               of the base side, likewise; absent where nothing is compared
 *     nodes.deviation[type][], .unit[] square root of estimate.variance, and estimate.unit, of what is right there; absent where all is exact
 *
 * There is no '<' in it, so that it may stand in a <script> element whatever functions are called.
 */
#ifndef HI_HTML_DATA_H
#define HI_HTML_DATA_H

#include <stdio.h>

#include "calltree.h"

/* 0 or -ENOMEM; what out takes is not checked. */
int html_data_write(const struct profile *profile, const struct calltree *tree, enum sample_type type, FILE *out);

#endif
