/* SPDX-License-Identifier: MIT */
/*
 * analyzer_child.h - the analyzer as a child process at the far end of a pipe. It is started before the target is opened, so it inherits no way into it; when we die, it
 * reads the end of the pipe and writes what it has.
 */
#ifndef HI_ANALYZER_CHILD_H
#define HI_ANALYZER_CHILD_H

#include <stdio.h>
#include <sys/types.h>

#include "hi_analyzer.h"

struct analyzer_child {
	pid_t pid;      /* 0 = none */
	int stream_fd;  /* ours to write, non-blocking */
	int status_fd;  /* ours to read, non-blocking */
	int summary_fd; /* ours to read, once the stream is closed */
};

/* Negative errno. The child takes copies of heap_fd and pprof_fd. */
int analyzer_child_start(struct analyzer_child *child, int heap_fd, int pprof_fd);
/* The newest status, if there is one since the last call: 1, else 0. */
int analyzer_child_status(const struct analyzer_child *child, struct hi_analyzer_status *out_status);
/* Closes the stream, copies the child's summary to `out`, and waits for its end. Returns its exit code, or negative errno if it was killed. */
int analyzer_child_finish(struct analyzer_child *child, FILE *out);
/* Nothing was collected: ends the child without a summary. */
void analyzer_child_abandon(struct analyzer_child *child);

#endif
