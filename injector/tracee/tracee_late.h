/* SPDX-License-Identifier: MIT */
/*
 * tracee_late.h - threads that did not stop in time; between the files of tracee only.
 *
 * They cannot be let go of until they do stop, but are not to stand there unnoticed when they do, until the tracing thread ends: so they are looked after
 * whenever there is something to wait for, and count as held, because if we are frozen meanwhile they stand all the same. Each tracing thread has a list of its
 * own.
 */
#ifndef HI_TRACEE_LATE_H
#define HI_TRACEE_LATE_H

#include "ptrace.h"

/* One that is TRACEE_RUNNING, with an interrupt pending. */
void tracee_late_add(const struct tracee *tracee);
/* Back from the list, still under way; false: it is not there, or its filters are not known, and the caller minds them. */
bool tracee_late_take(pid_t tid, struct tracee *out_tracee, bool minds_filters);
/* Lets those go that have stopped meanwhile. */
void tracee_late_look(void);
/*
 * At the end of a tracing thread, when nobody is held any more. If the kernel were to let go of a thread that has been woken for its stop, the call that this
 * broke off would fail; so it waits for all but those that cannot stop.
 */
void tracee_late_end(void);

#endif
