/* SPDX-License-Identifier: MIT */
/*
 * event_stop.h - brings a seized thread to the stop that PTRACE_INTERRUPT requests, and lets it go
 * from there, with what that stop breaks off: a system call that the thread waits in. For the files
 * of tracee only, except for the functions named tracee_*.
 *
 * Where ARCH_STOP_ENDS_CALLS, a stop may end a call with EINTR, and overwrites its first argument.
 * So the thread is looked at before it is interrupted. If the stop alone has ended the call, the
 * thread begins it anew; if a signal handler is to run, the call ends as it would have ended.
 */
#ifndef HI_EVENT_STOP_H
#define HI_EVENT_STOP_H

#include "ptrace.h"

/* A thread as it was before it was interrupted. */
struct tracee_look {
	uint64_t turns;
	struct arch_call call; /* that it waited in; looked for only if ARCH_STOP_ENDS_CALLS */
};
/* Returns its turns (proc_turns). */
uint64_t tracee_look_at(pid_t pid, pid_t tid, struct tracee_look *out_look);
/*
 * To be called between SEIZE and INTERRUPT: sets tracee->before. look: taken before SEIZE, or NULL.
 */
void event_stop_note_call(struct tracee *tracee, const struct tracee_look *look);

/*
 * After an INTERRUPT: passes on a stop that came first, and interrupts anew, as any stop consumes a
 * pending interrupt. -EAGAIN: not in the event stop yet.
 */
must_check int event_stop_approach(struct tracee *tracee, enum ptrace_stop stop, int signal);
/* After tracee_interrupt: 0 = it has stopped, -EAGAIN = not yet, -ESRCH = it never will. */
must_check int tracee_has_stopped(struct tracee *tracee);
/* Counts the stop that is about to end (held.h), if there was one; once. */
void tracee_note_held(struct tracee *tracee);
/*
 * Ends the call that regs are about to begin anew (arch_end_rewound) if a signal has come meanwhile
 * for which the thread, once it has this mask, runs a handler. True: regs have changed.
 */
bool tracee_end_rewound(const struct tracee *tracee, uint64_t mask, struct arch_regs *regs);
/* Detaches a stopped thread, which goes on where it is. tracee_detach also ends its hold. */
int tracee_detach_stopped(const struct tracee *tracee);

#endif
