/* SPDX-License-Identifier: MIT */
/*
 * analyzer_child.h - the analyzer as a child process at the far end of a pipe, in a sandbox. It is started before the target is opened, so it inherits no way
 * into it; when we die, it reads the end of the pipe and writes what it has, then without names.
 *
 * It reads what a hostile target may have written, so what it says is not trusted either: its numbers are only shown, its text only as plain ASCII and not
 * without end.
 */
#ifndef HI_ANALYZER_CHILD_H
#define HI_ANALYZER_CHILD_H

#include <stdio.h>
#include <sys/types.h>

#include "hi_analyzer.h"
#include "sandbox.h"

struct analyzer_child {
	pid_t pid;      /* 0 = none */
	int stream_fd;  /* ours to write, non-blocking */
	int status_fd;  /* ours to read, non-blocking */
	int summary_fd; /* ours to read, once the stream is closed */
	int ask_fd;     /* where it asks for files */
	struct sandbox_state sandbox;
};

struct analyzer_files {
	int heap_fd, pprof_fd; /* the child takes copies */
};

/* Negative errno. -EPERM: it would have had to read the target's data as root. */
must_check int analyzer_child_start(struct analyzer_child *child, struct identity user, const struct analyzer_files *files);
/* The newest status, if there is one since the last call: 1, else 0. */
int analyzer_child_status(const struct analyzer_child *child, struct hi_analyzer_status *out_status);
/*
 * Closes the stream, copies the child's summary to `out`, and waits for its end; somebody else answers it meanwhile (file_service.h). Returns its exit code, or
 * negative errno if it was killed.
 */
int analyzer_child_finish(struct analyzer_child *child, FILE *out);
/* The first part of that: no records come any more. */
void analyzer_child_end_stream(struct analyzer_child *child);
/* Nothing was collected: ends the child without a summary. */
void analyzer_child_abandon(struct analyzer_child *child);

#endif
