/* SPDX-License-Identifier: MIT */
/*
 * cli_session.h - the options of `heapinject attach`, for the commands that take them, too.
 *
 * All of them return HI_EXIT_OK, or HI_EXIT_USAGE once the error is printed.
 */
#ifndef HI_CLI_SESSION_H
#define HI_CLI_SESSION_H

#include <stdbool.h>

#include "cli_arguments.h"
#include "hi_options.h"
#include "session.h"

/* Options of one command besides those of attach, with codes from CLI_MORE_OPTIONS on. */
struct cli_more_options {
	const struct option *known; /* the last one has no name */
	/* option: its code; value: what was given, CLI_OFF, or of a switch anything else */
	int (*parse)(void *context, int option, const char *value);
	void *context;
};

/* What attach has where nothing is given. */
struct session_options cli_session_defaults(void);
/*
 * Reads them in front of words that are none; the first of those is argv[*out_next]. argv[0] is the
 * command. more: NULL = none.
 */
int cli_session_parse(int argc, char **argv, bool in_order, const struct cli_more_options *more,
		      struct session_options *options, int *out_next);
/* Rejects what contradicts each other, and completes what follows from the rest. */
int cli_session_complete(struct session_options *options);
/*
 * As `attach --detached` with no other option, but until it is detached: for `top`, and pages of
 * `serve`. Returns an exit code.
 */
int cli_attach_detached(pid_t pid);

#endif
