/* SPDX-License-Identifier: MIT */
/*
 * tracee_late.h - threads that did not stop in time; for the files of tracee only.
 *
 * They cannot be detached until they stop, but when they do, they must not stay stopped unnoticed
 * until the tracing thread ends. So the list is checked whenever the tracing thread waits for
 * something. They count as held, because if the injector is frozen meanwhile they stay stopped all
 * the same. Each tracing thread has its own list.
 */
#ifndef HI_TRACEE_LATE_H
#define HI_TRACEE_LATE_H

#include "event_stop.h"

/* Adds a tracee that is TRACEE_RUNNING, with an interrupt pending. */
void tracee_late_add(const struct tracee *tracee);
/*
 * Takes a thread off the list; its interrupt is still pending. False: it is not listed, or its
 * filters are not known and the caller needs them.
 */
bool tracee_late_take(pid_t tid, struct tracee *out_tracee, bool minds_filters);
/* Lets go of threads that have stopped meanwhile. */
void tracee_late_look(void);
/*
 * For the end of a tracing thread, when no thread is held any more. If the kernel detached a thread
 * that has been woken for its stop, the system call that this broke off would fail. So it waits for
 * all threads except those that cannot stop.
 */
void tracee_late_end(void);

#endif
