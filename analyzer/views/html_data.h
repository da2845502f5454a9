/* SPDX-License-Identifier: MIT */
/*
 * html_data.h - the data of the HTML page: one JSON object, which html/profile.js reads.
 *
 * The object has columns instead of rows, because columns are shorter and faster to parse. `names`
 * holds each distinct string once, and the other fields refer to strings by their index; index 0 is
 * the empty string. A page holds one profile, or several: then nodes.self is of what the command
 * line asked for (the last snapshot, or the sum), and snapshots[] has each file at the same nodes.
 *
 *     version                          2
 *     title, host, command, report     texts; report: the header lines of every report
 *     pid, start, duration, interval, samples, complete (a fraction), isScaled; null or 0 = unknown
 *     intervals[]                      the finest and the coarsest with which samples were drawn
 *     session                          version, exe, unhooked (texts), hooked[] (a line for each
 *                                      allocator), frees, droppedAllocs, droppedFrees,
 *                                      missedFrees, payloadCpu, targetCpu (seconds), budget (a
 *                                      fraction), end (enum hi_stream_end_reason), peak, peakTime
 *     changes[]                        time, interval: when the sampling rate changed
 *     moments[]                        time, anonymous, resident, seen: memory of the process
 *     heap                             of (the allocators), moments[]: time, in use, retained, of
 *                                      it trimmable: by the allocators' own count; null = unknown
 *     type                             the sample type that the page shows first
 *     types[]                          kind ("alloc", "inuse"), isBytes, isUnsure (no interval:
 *                                      caveats.h)
 *     isComparison, isGrowth, folded   isGrowth: --growth was asked for; folded: number of light
 *                                      nodes that are part of "(other)"
 *     answer                           html_answer.h; null = there is none
 *     series                           html_series.h; null = there is one file
 *     sources[], code[]                html_source.h
 *     functions.name[], .module[], .file[]
 *     nodes.function[], .depth[]       the call tree in preorder; function -1: all, -2: (other)
 *     nodes.line[]                     source line of the call, on the heaviest stack; 0 = unknown
 *     nodes.folded[]                   nodes that only start a thread, or are thin layers above an
 *                                      allocator (user_frames.h), on all stacks through them
 *     nodes.self[type][]               of the new side, bytes or objects, in whole numbers: the sum
 *                                      over a subtree differs from its true total by at most 1
 *     nodes.base[type][]               of the base side, likewise; absent if this is no comparison
 *     nodes.deviation[type][], .unit[] square root of estimate.variance, and estimate.unit, of the
 *                                      node itself; absent where all figures are exact
 *     growing[]                        nodes at which stacks end that grow; null = not known
 *     ages                             what is in use by the time of its allocation: width of a
 *                                      slice in seconds; node[], slice[], objects[], bytes[]: cells
 *                                      that are not zero; slice `unknown`: no time. null = not
 * known threads                          names[] (name, tid), and cells node[], thread[], and
 * values by sample type; null = not known snapshots[]                      file, pid, start,
 * duration; node[], self[type][], deviation[type][] (null = exact); null = there is one file
 *
 * The object has no '<' in it, so it can be part of a <script> element whatever the functions are
 * named.
 */
#ifndef HI_HTML_DATA_H
#define HI_HTML_DATA_H

#include <stdio.h>

#include "answer.h"
#include "calltree.h"
#include "html_nodes.h"
#include "render_options.h"

struct html_data {
	const struct profile *profile;
	const struct render_options *options;
	const struct answer *answer;  /* NULL = there is none */
	const char *series;           /* JSON; NULL = there is none */
	const char *sources;          /* members of html_source_write() */
	const struct estimate *total; /* of the type that the options have */
	struct html_nodes *nodes;     /* of the tree that is written */
	bool is_growth;
};

/* Returns 0 or -ENOMEM. It does not check `out` for write errors. */
int html_data_write(const struct html_data *data, FILE *out);
/*
 * The members `moments` and `heap`: memory of the process over the window; a sum of several files
 * has none.
 */
void html_data_write_moments(const struct profile_meta *meta, FILE *out);

#endif
