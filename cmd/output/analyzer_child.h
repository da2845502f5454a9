/* SPDX-License-Identifier: MIT */
/*
 * analyzer_child.h - the analyzer as a child process in a sandbox, at the far end of a pipe.
 *
 * The child is started before the target is opened. Of access to the target it inherits only a
 * descriptor that says which pages are there (pagemap_file.h). If the injector dies, the child
 * reads the end of the pipe and writes what it has, then without symbol names.
 *
 * The child reads data that a hostile target may have written, so the injector does not trust its
 * output either. It only displays the child's numbers. It displays the child's text as plain ASCII
 * and bars (U+2581 to U+2588), and up to a limit.
 */
#ifndef HI_ANALYZER_CHILD_H
#define HI_ANALYZER_CHILD_H

#include <stdio.h>
#include <sys/types.h>

#include "hi_analyzer.h"
#include "sandbox.h"

struct analyzer_child {
	pid_t pid;      /* 0 = none */
	int stream_fd;  /* the injector's end, to write records; non-blocking */
	int status_fd;  /* the injector's end, to read status messages; non-blocking */
	int summary_fd; /* the injector's end, to read the summary once the stream is closed */
	int ask_fd;     /* the socket on which the child asks for files */
	struct sandbox_state sandbox;
};

struct analyzer_files {
	int heap_fd, pprof_fd;    /* the child takes copies */
	int pagemap_fd;           /* likewise; -1 = it could not be opened */
	bool names_live;          /* as in struct hi_analyzer_outputs */
	bool holds_memory;        /* held_memory.h */
	const char *suppressions; /* as in struct hi_analyzer_outputs */
};

/*
 * Returns 0 or negative errno. -EPERM: the child would have had to read the target's data as root.
 */
must_check int analyzer_child_start(struct analyzer_child *child, struct identity user,
				    const struct analyzer_files *files);
/* Gets the newest status. Returns 1 if one has arrived since the last call, else 0. */
int analyzer_child_status(const struct analyzer_child *child,
			  struct hi_analyzer_status *out_status);
/* Changes the child's priority, where that is permitted. nice: -20 to 19. */
void analyzer_child_set_nice(const struct analyzer_child *child, int nice);
/*
 * Closes the stream, copies the child's summary to `out` and its answer to `answer`, with what
 * follows it (HI_ANALYZER_LEAKS), and waits for the child to end. Another thread must answer the
 * child's requests in the meantime (file_service.h). Returns the child's exit code, or negative
 * errno if it was killed.
 */
int analyzer_child_finish(struct analyzer_child *child, FILE *out, FILE *answer);
/* Does only the first part of analyzer_child_finish: closes the stream. */
void analyzer_child_end_stream(struct analyzer_child *child);
/* Kills the child without a summary, for the case that nothing was collected. */
void analyzer_child_abandon(struct analyzer_child *child);

#endif
