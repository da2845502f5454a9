/* SPDX-License-Identifier: MIT */
/*
 * run_signals.h - signals of `heapinject run`. Those that ask a program to end, or that have a
 * meaning of its own, are for the program: they are passed on to it, and do nothing here.
 *
 * The terminal sends its signals to the whole foreground process group, to which the program
 * belongs: it has these already. A signal that stops (Ctrl-Z) stops heapinject as soon as it has
 * stopped the program: before that, the session would go on, and the program with it.
 */
#ifndef HI_RUN_SIGNALS_H
#define HI_RUN_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

#include "session_state.h"

/* The signals that are passed on, or that stop. They are to be blocked before the program starts.
 */
void run_signals_set(sigset_t *set);
/* For each round of a session: does with the signals that signal_fd holds what is to be done. */
void run_signals_serve(struct session *session);
/*
 * After the session: from here on they are passed on at once, by handlers. The signals that have
 * come meanwhile are passed on first.
 */
void run_signals_pass_on(int signal_fd, pid_t child);

#endif
