/* SPDX-License-Identifier: MIT */
/*
 * session_signals.h - what SIGINT, SIGTERM, SIGHUP and SIGQUIT do to a session: before it has
 * touched its target they end it at once, during it they ask it to end, and after detach they may
 * kill it. One session per process.
 */
#ifndef HI_SESSION_SIGNALS_H
#define HI_SESSION_SIGNALS_H

#include <stdbool.h>

/* From here on these signals end the process with a message; child processes end without one. */
void session_signals_end_early(void);
/*
 * SIGPIPE and SIGXFSZ are ignored, because the session handles a closed reader and a file that may
 * not grow as error codes. The other signals are read from a descriptor, so that they can end the
 * session only between two rounds. passes_on: also those that `run` passes on. Returns that
 * descriptor, a signalfd that does not block, or -1.
 */
int session_signals_take(bool passes_on);
/*
 * The same for a signal that asks for a profile. From here on it never ends the process.
 */
int session_signals_take_trigger(int signal);
/* True if a signal arrived before the target was touched; it has printed so. */
bool session_signals_is_interrupted(int signal_fd);
/*
 * To be called after detach, when the target no longer depends on this process: a user who does not
 * want to wait for the files may then kill it. Signals that have already ended the session are read
 * first, so that they do not kill it now.
 */
void session_signals_let_kill(int signal_fd);

#endif
