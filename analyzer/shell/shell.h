/* SPDX-License-Identifier: MIT */
/*
 * Room shell/: report at a terminal, with line editing and completion. Start at shell.h. Uses
 * options/ and below, and libedit.
 */

/*
 * shell.h - `heapinject report FILE` at a terminal: it reads a profile once and shows one view of
 * it after another.
 *
 * Each input line is translated into a command line of report, so every option works here, too. A
 * child process makes each view. Ctrl-C ends the child, and a failure in the child does not end the
 * shell.
 */
#ifndef HI_SHELL_H
#define HI_SHELL_H

#include "shell_view.h"

/*
 * True if standard input and output are a terminal, and the options name neither a view nor an
 * output file.
 */
bool shell_is_wanted(const struct report_options *options);
/* Runs until `quit` or the end of the input. Returns 0 or -ENOMEM. */
int shell_run(const struct report_options *options, struct profile *profile, shell_show *show);

#endif
