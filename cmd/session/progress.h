/* SPDX-License-Identifier: MIT */
/*
 * progress.h - what a running attach shows on standard error: one line redrawn on a terminal, a
 * line every ten seconds elsewhere, nothing with -q.
 */
#ifndef HI_PROGRESS_H
#define HI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hi_analyzer.h"
#include "hi_stream.h"

struct progress {
	bool quiet, is_terminal;
	bool is_log;       /* set by the caller: lines of figures would fill it, and are left out */
	uint64_t shown_ns; /* when the last line was shown */
	/*
	 * set by the caller after progress_open: mean bytes between samples, from which a better
	 * one is suggested if samples are lost; 0 = no suggestion
	 */
	uint64_t interval;
	bool is_open;    /* a redrawn line has not been ended yet */
	uint32_t answer; /* the number of the last answer that was said */
};

void progress_open(struct progress *progress, bool quiet);
/*
 * duration_ns: 0 = until stopped. status: NULL = live bytes are not known (the records go to
 * standard output).
 */
/* If there is a new answer, that is said first, on a line of its own. */
void progress_show(struct progress *progress, const struct hi_stream_stats *stats,
		   const struct hi_analyzer_status *status, uint64_t duration_ns);
/* Shows another line in its place, as often as that one. time_ns: since the beginning. */
void progress_draw(struct progress *progress, uint64_t time_ns, const char *line);
/*
 * Prints a separate line between the others, nothing with -q. progress_complain prints it even with
 * -q.
 */
void progress_say(struct progress *progress, const char *line);
void progress_complain(struct progress *progress, const char *line);
/* Ends the redrawn line, so that other output can follow. */
void progress_close(struct progress *progress);

#endif
