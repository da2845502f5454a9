/* SPDX-License-Identifier: MIT */
/*
 * Room tracee/: stops, borrows and releases threads of the target, and has them call something.
 *
 *   tracee.h           one thread under ptrace: enter here; tracee_worker() starts the thread that
 *                      may do it
 *   remote.h           a borrowed thread makes system calls and calls functions; borrow.h: which
 *                      thread is asked
 *   stop_world.h       all threads at once, within the session's allowance
 *   patch.h            changes words that running threads read; force_write.h: where pages are
 *                      read-only
 *   launch.h           starts a program, and stops it before it runs; exit_watch.h: holds it at its
 *                      exit; thread_words.h: the registers of a stopped thread
 *   watchdog.h         ends us if we freeze meanwhile; hold.h, held.h, pace.h: what a tracing
 *                      thread does while it holds a thread, and how long that was
 *   seccomp_filter.h   would the target's own filters let our calls pass
 *
 * Uses target/ and arch/. No other room calls ptrace. Code that holds a thread has a deadline, and
 * lets the thread go exactly as it was.
 */

/*
 * tracee.h - one thread of the target under ptrace: only ptrace.c calls ptrace(), and no wait
 * status leaves it.
 *
 * SEIZE and INTERRUPT, never ATTACH; no option that kills the target with us (but launch.h). Every
 * wait has a deadline. Signals that arrive are passed on, and a system call that a stop breaks off
 * is made again. 0 or negative errno: -ESRCH gone, -EPERM refused, -ETIMEDOUT did not stop in time
 * (state D, a vfork parent, a starved machine).
 *
 * A tracer is a thread, not a process: all calls for one tracee must come from the thread that
 * stopped it. A thread of the target that does not stop cannot be detached either; the kernel
 * detaches it, whatever its state, when the tracing thread ends. So do the work in tracee_worker().
 */
#ifndef HI_TRACEE_H
#define HI_TRACEE_H

#include "event_stop.h"

/*
 * Runs work(context) in a short-lived thread with all signals blocked, and returns its result. The
 * kernel detaches whatever it still traces when it returns.
 */
must_check int tracee_worker(int (*work)(void *), void *context);

/*
 * Seizes, interrupts and waits; on success the thread is TRACEE_STOPPED. On failure nothing is
 * attached; after -ETIMEDOUT that is true once the calling thread has ended.
 */
must_check int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms);
/*
 * The same for several threads at once: interrupt each, then see which have stopped
 * (tracee_has_stopped). tracee_nap sleeps until one may have, a millisecond at most; SIGCHLD must
 * be blocked, as in a worker. It is no sign of life to the watchdog, as threads that have stopped
 * may be held meanwhile.
 */
must_check int tracee_interrupt(struct tracee *tracee, pid_t pid, pid_t tid);
/*
 * For a thread in which no system call will be made and no function called: seccomp filters are
 * neither read nor suspended. Half the cost. look: taken before; NULL = it is taken now.
 */
must_check int tracee_halt(struct tracee *tracee, pid_t pid, pid_t tid,
			   const struct tracee_look *look);
void tracee_nap(void);
/*
 * Sleeps for that long, and lets go of threads that stop too late meanwhile: in a plain sleep they
 * would stay stopped.
 */
void tracee_pause(int64_t ns);
/* Gives up waiting for it: it is let go when it stops, if it does before the worker ends. */
void tracee_abandon(struct tracee *tracee);
/*
 * Lets the thread go: at once if it is stopped, else after stopping it. Safe on a half-open tracee;
 * idempotent.
 */
int tracee_detach(struct tracee *tracee);
/* Ends the hold, and leaves the thread stopped and traced: the caller resumes it without this. */
void tracee_hand_over(struct tracee *tracee);

/*
 * Runs to the next system-call stop: TRACEE_SYSCALL_ENTRY, after that TRACEE_SYSCALL_EXIT. Stops of
 * other kinds are passed through: block signals before the call. -ETIMEDOUT: still TRACEE_RUNNING.
 */
must_check int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms);
/*
 * From TRACEE_STOPPED to the entry of the call that the kernel goes on with: TRACEE_SYSCALL_ENTRY.
 * -EAGAIN: a signal came first, and the thread is TRACEE_STOPPED again, elsewhere.
 */
must_check int tracee_run_to_restart(struct tracee *tracee, int deadline_ms);
/* Brings it from any state to TRACEE_STOPPED, without running the thread further than needed. */
must_check int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms);

#endif
