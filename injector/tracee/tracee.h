/* SPDX-License-Identifier: MIT */
/*
 * The room tracee/: threads of the target, stopped, borrowed, made to call something, let go.
 *
 *   tracee.h           one thread under ptrace: enter here; tracee_worker() starts the thread that may do it
 *   remote.h           a borrowed thread makes system calls and calls functions; borrow.h: which thread is asked
 *   standstill.h       all threads at once, within the session's allowance
 *   words.h            words that running threads read are changed; force_write.h: where pages are read-only
 *   watchdog.h         ends us if we freeze meanwhile; hold.h, held.h, pace.h: what a hold does for itself, and how long it was
 *   seccomp_filter.h   would the target's own filters let our calls pass
 *
 * Uses target/ and arch/. No other room calls ptrace. Whoever holds a thread has a deadline, and lets it go exactly as it was.
 */

/*
 * tracee.h - one thread of the target under ptrace: the only file that calls ptrace() is tracee.c, and no wait status leaves it.
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

#include <linux/filter.h>
#include <stdbool.h>

#include "arch.h"
#include "memory.h"

enum tracee_state {
	TRACEE_NONE = 0,      /* not ours */
	TRACEE_RUNNING,       /* seized, running */
	TRACEE_STOPPED,       /* PTRACE_EVENT_STOP: registers may be restored and the thread let go */
	TRACEE_SYSCALL_ENTRY, /* only while a remote system call is made */
	TRACEE_SYSCALL_EXIT,
	TRACEE_GONE,
};

struct tracee {
	pid_t pid, tid;
	enum tracee_state state;
	bool group_stopped; /* was in SIGSTOP's stop, and is to stay there */
	int64_t since_ns;   /* when it was interrupted, CLOCK_MONOTONIC; or when it was last seen to run on all the same */
	int64_t held_ns;    /* from then until tracee_detach; 0 = it did not stop */
	bool is_held;       /* it has stopped, and has not been let go of: held.h counts it then */
	bool minds_filters; /* the next two are known */
	bool has_filter;    /* it is under a seccomp filter, suspended or not */
	bool is_filtered;   /* a seccomp filter judges the calls we make there: we may not suspend it (CAP_SYS_ADMIN), or the kernel cannot */
};

/* Runs work(context) in a short-lived thread with all signals blocked; its result. Whatever it still traces when it returns is let go by the kernel. */
must_check int tracee_worker(int (*work)(void *), void *context);

/*
 * May we trace at all, and suspend seccomp filters? Asked of a child of ours that is killed afterwards: it stays seized. 0, or what the kernel says (-EPERM,
 * -ENOSYS: a seccomp profile of ours, an emulator).
 */
must_check int tracee_probe(pid_t child, bool *out_may_suspend);

/* Seize and interrupt, back to back; on success the thread is TRACEE_STOPPED. On failure nothing is attached, with -ETIMEDOUT once this thread has ended. */
must_check int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms);
/*
 * The same for several at once: interrupt each, then look who has stopped. tracee_has_stopped: 0 = it has, -EAGAIN = not yet, -ESRCH = it never will.
 * tracee_nap: until one may have, a millisecond at most; with SIGCHLD blocked, as in a worker. It is no sign of life to the watchdog, as those who have stopped
 * may stand meanwhile.
 */
must_check int tracee_interrupt(struct tracee *tracee, pid_t pid, pid_t tid);
/* For one on which no system call will be made, and no function called: seccomp filters are neither asked for nor suspended. Half the price. */
must_check int tracee_halt(struct tracee *tracee, pid_t pid, pid_t tid);
must_check int tracee_has_stopped(struct tracee *tracee);
void tracee_nap(void);
/* For as long as that, with the same care for threads that stopped too late: by a plain sleep they would stand. */
void tracee_pause(int64_t ns);
/* Not waited for any more: let go when it has stopped, if it does before the worker ends. */
void tracee_abandon(struct tracee *tracee);
/* Lets the thread go: where it stands, if it is stopped, else after stopping it. Safe on a half-open tracee; idempotent. */
int tracee_detach(struct tracee *tracee);

must_check int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs);
must_check int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs);
/* Whole extended state. size in: room, out: bytes used. */
must_check int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size);
must_check int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size);
/*
 * In a call that waits under another mask (sigsuspend, ppoll) this is the mask to come back; setting it ends the temporary one, and the call must be restarted.
 */
must_check int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask);
must_check int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask);
/*
 * One word of the target's memory, whatever the protection of its page. By thread and not by tracee: -ESRCH also means that the calling thread does not hold
 * this one stopped.
 */
must_check int tracee_poke(pid_t tid, remote_addr to, uint64_t word);
/* Where the thread's struct rseq lies; 0 = it has none, or the kernel is too old to tell. */
must_check int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq);

/* The index-th of the thread's seccomp filters; the rest of the room is zeroed. -ENOENT: it has no more. */
must_check int tracee_get_filter(const struct tracee *tracee, unsigned index, struct sock_filter into[BPF_MAXINSNS]);

/*
 * Runs to the next system-call stop: TRACEE_SYSCALL_ENTRY, after that TRACEE_SYSCALL_EXIT. Stops of other kinds are passed through: block signals before.
 * -ETIMEDOUT: still TRACEE_RUNNING.
 */
must_check int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms);
/* From wherever it is to TRACEE_STOPPED, without running the thread further than needed. */
must_check int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms);

#endif
