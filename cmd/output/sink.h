/* SPDX-License-Identifier: MIT */
/*
 * The room output/: where a session's records go. sink.h opens it all; folder.h and outputs.h make the files for the right user; analyzer_child.h runs the
 * analyzer as a child, sandbox.h takes all rights from it, and file_service.h hands it the files that it may have. Uses the injector's stream/ and target/.
 */

/*
 * sink.h - where a session's records go: to our own analyzer and its two files or, with -o -, to standard output. Opened before the target is touched.
 *
 * Prints its own complaints; they are the user's first.
 */
#ifndef HI_SINK_H
#define HI_SINK_H

#include "analyzer_child.h"
#include "file_broker.h"
#include "file_service.h"
#include "outputs.h"
#include "preflight.h"
#include "stream_out.h"

struct sink {
	struct stream_out out;
	bool streams;    /* to standard output; of the rest only stdout_flags is used then */
	bool is_written; /* set by sink_finish: both files are whole */
	int stdout_flags;
	struct outputs outputs;
	struct analyzer_child analyzer;
	struct file_broker broker;
	struct file_service service;
};

/* prefix: of the files; "-" = standard output. Returns an exit code of hi_exit.h; nothing is left behind unless that is HI_EXIT_OK. */
must_check int sink_open(struct sink *sink, const char *prefix, const struct preflight *preflight);
/* For -v: what the analyzer was left with. */
void sink_describe(const struct sink *sink);
/* Where files of objects are kept for the analyzer; NULL if there is none of ours. */
struct file_broker *sink_broker(struct sink *sink);
/* The newest status of the analyzer: 1, else 0. */
int sink_status(const struct sink *sink, struct hi_analyzer_status *out_status);
/* A DUMP record is about to go out, and what became of it: as in file_service.h. Never if it streams. */
must_check int sink_expect_dump(struct sink *sink);
int sink_dump_result(struct sink *sink, int *out_error, struct outputs_dump *out_dump);
/* All records have been written: the files get written, too, and are named to `out` once they are; an empty one is removed. Returns an exit code. */
must_check int sink_finish(struct sink *sink, FILE *out);
/* An analyzer that was not finished has been told nothing: its files go, too. */
void sink_close(struct sink *sink);

#endif
