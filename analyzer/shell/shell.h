/* SPDX-License-Identifier: MIT */
/*
 * The room shell/: report at a terminal, with line editing and completion. shell.h: enter here. Uses options/ and below, and libedit.
 */

/*
 * shell.h - `heapinject report FILE` at a terminal: one view after another of a profile that is read once.
 *
 * A line becomes a command line of report, so that whatever option there is works here, too. Each view is made by a child process, which Ctrl-C ends, and
 * nothing that goes wrong in it ends the shell.
 */
#ifndef HI_SHELL_H
#define HI_SHELL_H

#include "shell_view.h"

/* Standard input and output are a terminal, no view is named, and no output. */
bool shell_is_wanted(const struct report_options *options);
/* Until quit or the end of the input. 0 or -ENOMEM. */
int shell_run(const struct report_options *options, struct profile *profile, shell_show *show);

#endif
