/* SPDX-License-Identifier: MIT */
/*
 * exit_watch.h - holds a program at its exit, when all its threads have run their last instruction
 * and its memory is still there.
 *
 * For that it is traced all the time, as strace does it, by a thread of its own: each of its
 * threads is seized, new ones come with those that create them, and PTRACE_EVENT_EXIT is the stop
 * that is waited for. Signals are passed on, and a stop by a signal (SIGSTOP) stays one. Processes
 * that it creates are not traced. An exit that a signal caused, and exec, are passed through. If
 * the injector dies, the kernel lets all threads go, held ones included.
 *
 * Other errands trace the same threads, and a thread has one tracer: for their time the watch is
 * suspended (exit_watch_suspend). If the program exits just then, that is EXIT_WATCH_MISSED.
 *
 * One per process. Call its functions from the session's thread.
 */
#ifndef HI_EXIT_WATCH_H
#define HI_EXIT_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "thread_words.h"

enum exit_watch_state {
	EXIT_WATCH_NONE, /* it was not begun, or was ended */
	EXIT_WATCH_GOES, /* the program runs */
	EXIT_WATCH_HELD, /* all its threads are held */
	/* it ends by a signal, or replaces its program */
	EXIT_WATCH_SIGNAL,
	EXIT_WATCH_EXEC,
	/* not all threads came to their exit in time, or it was not traced when they did */
	EXIT_WATCH_MISSED,
};

/*
 * From here on SIGCHLD is blocked in the calling thread, and in those that it creates. take: NULL,
 * or runs first, in the tracing thread, and leaves the program's only thread stopped and traced by
 * that (remote_hand_over): it is let go when it is watched. 0, or the error of `take` or of the
 * first thread that cannot be traced; then none is.
 */
must_check int exit_watch_begin(pid_t pid, int (*take)(void *context), void *context);
/* Lets the program go, wherever it is. */
void exit_watch_end(void);
enum exit_watch_state exit_watch_look(void);
/* EXIT_WATCH_HELD: the registers of its threads, until exit_watch_end. */
const struct thread_words *exit_watch_threads(size_t *out_count);
/* Whether a signal has stopped it. /proc shows a tracing stop then. */
bool exit_watch_is_stopped(void);

/* Around what traces its threads. Nothing happens while there is no watch, or it holds. */
void exit_watch_suspend(void);
void exit_watch_resume(void);

#endif
