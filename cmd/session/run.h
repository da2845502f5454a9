/* SPDX-License-Identifier: MIT */
/*
 * run.h - `heapinject run`: starts a program, profiles it from its first instruction, and passes
 * its signals and its exit status on.
 *
 * The program is a child that stands still when the session attaches to it (launch.h). The session
 * is that of `heapinject attach`, with a few differences where session_options.run is set.
 */
#ifndef HI_RUN_H
#define HI_RUN_H

#include "session.h"

/*
 * The program is to inherit what this process has now: signals that are blocked or ignored, and
 * standard output and error. For a caller that changes these before run_program(), which may then
 * be called in a child.
 */
void run_note_inherited(void);
/*
 * argv: the program and its arguments, as of execvp. options->pid and ->run need not be set.
 * Returns the exit code of heapinject: that of the program, 128 and the number of the signal that
 * ended it, or a code of hi_exit.h if the program exited with 0 or was not run.
 */
int run_program(struct session_options *options, char **argv);

#endif
