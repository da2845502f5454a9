/* SPDX-License-Identifier: MIT */
/*
 * Room output/: where a session's records go. sink.h opens all of it. directory.h and outputs.h
 * create the files for the right user; new_file.h creates one for another command. analyzer_child.h
 * runs the analyzer as a child, sandbox.h takes all rights from that child, and file_service.h
 * gives it the files that it may have. Uses the injector's stream/ and target/.
 */

/*
 * sink.h - where a session's records go: to the analyzer child and its two files or, with -o - or
 * --stream, to standard output or a file. Opened before the target is touched.
 *
 * It prints its own error messages, as they concern the user directly.
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
	/*
	 * the records go to standard output or into one file; of the fields below only stdout_flags
	 * and stream_fd are used then
	 */
	bool streams;
	bool is_written; /* set by sink_finish: both files are complete */
	int stdout_flags;
	int stream_fd; /* of that file; 0 = standard output */
	struct outputs outputs;
	struct analyzer_child analyzer;
	struct file_broker broker;
	struct file_service service;
	/* set by sink_finish: the answer for programs, JSON without its last brace; NULL = none */
	char *answer;
	/*
	 * the report of leaked blocks (HI_ANALYZER_LEAKS), parts of `answer`; NULL = there is none.
	 * leaks_letter says what it comes to
	 */
	const char *leaks, *leaks_json;
	char leaks_letter;
};

struct sink_options {
	const char *prefix;       /* of the file names; "-" = standard output */
	const char *stream_path;  /* of a new file for the record stream; NULL = none */
	bool names_live;          /* as in struct hi_analyzer_outputs */
	bool holds_memory;        /* of the analyzer (held_memory.h) */
	bool syncs;               /* dumps are on the disk before they have their names */
	const char *suppressions; /* as in struct hi_analyzer_outputs */
};
/*
 * Returns an exit code of hi_exit.h; nothing is
 * left behind unless it is HI_EXIT_OK.
 */
must_check int sink_open(struct sink *sink, const struct sink_options *options,
			 const struct preflight *preflight);
/* For -v: prints which restrictions the sandbox of the analyzer has. */
void sink_describe(const struct sink *sink);
/*
 * The broker that keeps files of objects for the analyzer; NULL if the session has no analyzer
 * child.
 */
struct file_broker *sink_broker(struct sink *sink);
/* Gets the newest status of the analyzer. Returns 1 if there is a new one, else 0. */
int sink_status(const struct sink *sink, struct hi_analyzer_status *out_status);
/*
 * As file_service_expect and file_service_result. Must not be called if the records go to standard
 * output.
 */
must_check int sink_expect_dump(struct sink *sink, bool in_memory);
int sink_dump_result(struct sink *sink, int *out_error, struct outputs_dump *out_dump);
/*
 * CPU time that heapinject itself has used, in nanoseconds: of this process and of the analyzer
 * child, as far as it is known.
 */
uint64_t sink_cpu_ns(const struct sink *sink);
/*
 * To be called when all records have been written. Lets the analyzer write the files and then
 * prints their names to `out`; removes an empty file. Returns an exit code.
 */
must_check int sink_finish(struct sink *sink, FILE *out);
/*
 * Closes everything. If sink_finish was not called, nothing was collected, and the files are
 * removed, too.
 */
void sink_close(struct sink *sink);

#endif
