/* SPDX-License-Identifier: MIT */
/*
 * family_signals.h - signals of a command that waits for several sessions.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT end all of them. While a program goes on that was started for
 * them, it is as of `heapinject run` (run_signals.h): signals are for the program, and are passed
 * on by its session, which is its parent; those of the terminal it has already.
 */
#ifndef HI_FAMILY_SIGNALS_H
#define HI_FAMILY_SIGNALS_H

#include "family_state.h"

/* From here on they wait until they are served. */
void family_signals_take(struct family *family);
void family_signals_serve(struct family *family);
/* The program was stopped, and its session with it: so is the command, until it is continued. */
void family_signals_stop_with(const struct member *program);

#endif
