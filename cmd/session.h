/* SPDX-License-Identifier: MIT */
/*
 * The room cmd/: the commands, and a session as its user sees it.
 *
 *   main.c, cli.h      the command line
 *   session.h          attach, dump, detach: enter here (session_detach.c, session_dump.c, session_request.h)
 *   control_socket.h   how one session is asked by another process
 *   progress.h, stats.h, overhead.h   what is said meanwhile, and what sampling costs
 *
 * output/ below it has the files. Uses the injector; of the analyzer only hi_analyzer.h.
 */

/* session.h - `heapinject attach`, `dump` and `detach` from the user's side: what is said, what is written, and how each way out ends in a clean detach. */
#ifndef HI_SESSION_H
#define HI_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hi_wire.h"

struct session_options {
	pid_t pid;
	uint64_t duration_s; /* 0 = until stopped */
	uint64_t interval;   /* mean bytes between samples; 1 = every allocation */
	uint32_t budget_ppm; /* share of the target's CPU time that may be ours, in millionths; 0 = whatever it takes */
	uint64_t live_max;   /* live samples to have room for; 0 = what fits the interval */
	uint64_t every_s;    /* a profile each so often, besides that of the end; 0 = none */
	size_t keep;         /* how many of those to keep, the newest; 0 = all */
	const char *prefix;  /* of the files; "-" = the record stream goes to standard output */
	enum hi_loader loader;
	enum hi_hook hook;
	bool quiet, verbose;
};

/* They print their own messages and return an exit code of hi_exit.h. */
int session_attach(const struct session_options *options);
int session_dump(pid_t pid);
int session_detach(pid_t pid);

#endif
