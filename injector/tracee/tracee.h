/* SPDX-License-Identifier: MIT */
/*
 * The room tracee/: threads of the target, stopped, borrowed, made to call something, let go.
 *
 *   tracee.h           one thread under ptrace: enter here; tracee_worker() starts the thread that may do it
 *   remote.h           a borrowed thread makes system calls and calls functions; borrow.h: which thread is asked
 *   stop_world.h       all threads at once, within the session's allowance
 *   patch.h            words that running threads read are changed; force_write.h: where pages are read-only
 *   watchdog.h         ends us if we freeze meanwhile; hold.h, held.h, pace.h: what a hold does for itself, and how long it was
 *   seccomp_filter.h   would the target's own filters let our calls pass
 *
 * Uses target/ and arch/. No other room calls ptrace. Whoever holds a thread has a deadline, and lets it go exactly as it was.
 */

/*
 * tracee.h - one thread of the target under ptrace: only ptrace.c calls ptrace(), and no wait status leaves it.
 *
 * SEIZE and INTERRUPT, never ATTACH; no option that kills the target with us. Every wait has a deadline. Signals that arrive are passed on, and a system call
 * that a stop breaks off is made again.
 * 0 or negative errno: -ESRCH gone, -EPERM refused, -ETIMEDOUT did not stop in time (state D, a vfork parent, a starved machine).
 *
 * A tracer is a thread, not a process: all calls for one tracee must come from the thread that stopped it. A thread of the target that will not stop
 * cannot be detached either; the kernel lets go of it, whatever its state, when the tracing thread ends. So do the work in tracee_worker().
 */
#ifndef HI_TRACEE_H
#define HI_TRACEE_H

#include "ptrace.h"

/* Runs work(context) in a short-lived thread with all signals blocked; its result. Whatever it still traces when it returns is let go by the kernel. */
must_check int tracee_worker(int (*work)(void *), void *context);

/* Seize and interrupt, back to back; on success the thread is TRACEE_STOPPED. On failure nothing is attached, with -ETIMEDOUT once this thread has ended. */
must_check int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms);
/*
 * The same for several at once: interrupt each, then look who has stopped (tracee_has_stopped).
 * tracee_nap: until one may have, a millisecond at most; with SIGCHLD blocked, as in a worker. It is no sign of life to the watchdog, as those who have stopped
 * may stand meanwhile.
 */
must_check int tracee_interrupt(struct tracee *tracee, pid_t pid, pid_t tid);
/* For one on which no system call will be made, and no function called: seccomp filters are neither asked for nor suspended. Half the price. */
must_check int tracee_halt(struct tracee *tracee, pid_t pid, pid_t tid);
void tracee_nap(void);
/* For as long as that, with the same care for threads that stopped too late: by a plain sleep they would stand. */
void tracee_pause(int64_t ns);
/* Not waited for any more: let go when it has stopped, if it does before the worker ends. */
void tracee_abandon(struct tracee *tracee);
/* Lets the thread go: where it stands, if it is stopped, else after stopping it. Safe on a half-open tracee; idempotent. */
int tracee_detach(struct tracee *tracee);

/*
 * Runs to the next system-call stop: TRACEE_SYSCALL_ENTRY, after that TRACEE_SYSCALL_EXIT. Stops of other kinds are passed through: block signals before.
 * -ETIMEDOUT: still TRACEE_RUNNING.
 */
must_check int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms);
/* From wherever it is to TRACEE_STOPPED, without running the thread further than needed. */
must_check int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms);

#endif
