/* SPDX-License-Identifier: MIT */
/*
 * html_series.h - the total and some stacks over several snapshots, as part of the page's data
 * (html_data.h): what `--growth` shows, and html/growth.js draws.
 *
 * The object has:
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
#ifndef HI_HTML_SERIES_H
#define HI_HTML_SERIES_H

#include <stddef.h>

#include "growth.h"

#define HTML_SERIES_STACKS 100u /* default number of stacks in the table */

struct html_series_options {
	enum sample_type type; /* that the series was given */
	size_t stacks;         /* at most so many, of those that have a slope */
	size_t room;           /* bytes; fewer stacks are written if they do not fit */
};
/*
 * all: has the caveats of all snapshots. Returns JSON, which the caller frees. NULL = out of
 * memory.
 */
char *html_series_json(const struct profile_meta *all, const struct growth *growth,
		       const struct html_series_options *options);

#endif
