/* SPDX-License-Identifier: MIT */
/*
 * growth_page.h - `--growth` as one HTML file that needs no network: a chart of the total and of some stacks over time, and a table of stacks.
 *
 * What the page knows is one JSON object, of which html/growth.js is the reader. Texts are as html_write.h writes them.
 *
 *     title, host, command, pid        of the first snapshot; pid 0: unknown, or there are several
 *     kind                             what is counted: kind ("alloc", "inuse"), isBytes
 *     hasTimes, start                  time[] in seconds since `start`, the end of the first snapshot (Unix time); else numbers of files
 *     isScaled                         nobody knows how sure the figures are
 *     snapshots, enough, stackCount    how many there are; of how many snapshots a verdict takes
 *     notes[]                          caveats (caveats.h), texts
 *     peak                             bytes, time (of the session), isExact: the most that was in use at once; null = unknown
 *     time[]                           of the snapshots that are drawn, evenly chosen where there are too many
 *     total, stacks[]                  each: name, calls[] (texts), slope, low, high (null = no bound), level, verdict (growth.h), and how sure: unit, the
 *                                      largest estimate.unit; value[] and deviation[] (square root of estimate.variance; absent where all is exact) by time[]
 */
#ifndef HI_GROWTH_PAGE_H
#define HI_GROWTH_PAGE_H

#include <stdio.h>

#include "growth.h"

#define GROWTH_PAGE_STACKS 100u /* in the table, where no number was asked for */

/*
 * With as many of the first `wanted` stacks as fit into a file of a megabyte. all: has the caveats of all snapshots. 0 or -ENOMEM; what out takes is not
 * checked.
 */
int growth_page_write(const struct profile_meta *all, const struct growth *growth, enum sample_type type, size_t wanted, FILE *out);

#endif
