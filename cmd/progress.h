/* SPDX-License-Identifier: MIT */
/* progress.h - what a running attach shows on standard error: one line redrawn on a terminal, a line every ten seconds elsewhere, nothing with -q. */
#ifndef HI_PROGRESS_H
#define HI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hi_analyzer.h"
#include "hi_stream.h"

struct progress {
	bool quiet, is_terminal;
	uint64_t shown_ns; /* when the last line was shown */
	uint64_t interval; /* set by who opens it: where samples are lost, another one is suggested; 0 = none is */
	bool is_open;      /* a redrawn line stands unfinished */
};

void progress_open(struct progress *progress, bool quiet);
/* duration_ns 0 = until stopped. status NULL: live bytes are not known (the stream goes elsewhere). */
void progress_show(struct progress *progress, const struct hi_stream_stats *stats, const struct hi_analyzer_status *status, uint64_t duration_ns);
/* A line of its own amid the others, nothing with -q; _complain: in any case. */
void progress_say(struct progress *progress, const char *line);
void progress_complain(struct progress *progress, const char *line);
/* Ends the redrawn line, so that other output can follow. */
void progress_close(struct progress *progress);

#endif
