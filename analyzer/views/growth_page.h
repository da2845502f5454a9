/* SPDX-License-Identifier: MIT */
/*
 * growth_page.h - `--growth` as one HTML file that needs no network: a chart of the total and of
 * some stacks over time, and a table of stacks.
 *
 * The page's data are one JSON object, which html/growth.js reads. Texts are written by
 * html_write.h.
 *
 *     title, host, command, pid        of the first snapshot; pid 0: unknown, or there are several
 *     kind                             what is counted: kind ("alloc", "inuse"), isBytes
 *     hasTimes, start                  true: time[] is in seconds since `start`, the end of the
 *                                      first snapshot (Unix time); false: time[] numbers the files
 *     isScaled                         the precision of the figures is unknown
 *     snapshots, enough, stackCount    number of snapshots; how many snapshots a verdict needs;
 *                                      number of stacks
 *     notes[]                          caveats (caveats.h), texts
 *     peak                             bytes, time (of the session), isExact: the most that was in
 *                                      use at once; null = unknown
 *     time[]                           of the snapshots that are drawn; evenly chosen if there are
 *                                      too many
 *     total, stacks[]                  each: name, calls[] (texts), slope, low, high (null = no
 *                                      bound), level, verdict (growth.h); unit: the largest
 *                                      estimate.unit; by time[]: value[], and deviation[], the
 *                                      square root of estimate.variance (absent where all values
 *                                      are exact)
 */
#ifndef HI_GROWTH_PAGE_H
#define HI_GROWTH_PAGE_H

#include <stdio.h>

#include "growth.h"

#define GROWTH_PAGE_STACKS 100u /* default number of stacks in the table */

/*
 * Writes the page with as many of the first `wanted` stacks as fit into a file of a megabyte. all:
 * has the caveats of all snapshots. Returns 0 or -ENOMEM. It does not check `out` for write errors.
 */
int growth_page_write(const struct profile_meta *all, const struct growth *growth,
		      enum sample_type type, size_t wanted, FILE *out);

#endif
