/* SPDX-License-Identifier: MIT */
/*
 * tracee.h - one thread of the target under ptrace: the only file that calls ptrace() is tracee.c, and no wait status leaves it.
 *
 * SEIZE and INTERRUPT, never ATTACH; no option that kills the target with us. Every wait has a deadline. Signals that arrive are passed on.
 * 0 or negative errno: -ESRCH gone, -EPERM refused, -ETIMEDOUT did not stop in time (state D, a vfork parent, a starved machine).
 *
 * A tracer is a thread, not a process: all calls for one tracee must come from the thread that stopped it. A thread of the target that will not stop
 * cannot be detached either; the kernel lets go of it, whatever its state, when the tracing thread ends. So do the work in tracee_worker().
 */
#ifndef HI_TRACEE_H
#define HI_TRACEE_H

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
	int64_t since_ns;   /* when it was interrupted, CLOCK_MONOTONIC */
	int64_t held_ns;    /* from then until tracee_detach */
	bool is_filtered;   /* a seccomp filter judges the calls we make there: we may not suspend it (CAP_SYS_ADMIN), or the kernel cannot */
};

/* Runs work(context) in a short-lived thread with all signals blocked; its result. Whatever it still traces when it returns is let go by the kernel. */
must_check int tracee_worker(int (*work)(void *), void *context);

/* Seize and interrupt, back to back; on success the thread is TRACEE_STOPPED. On failure nothing is attached, with -ETIMEDOUT once this thread has ended. */
must_check int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms);
/* Lets the thread go: where it stands, if it is stopped, else after stopping it. Safe on a half-open tracee; idempotent. */
int tracee_detach(struct tracee *tracee);

must_check int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs);
must_check int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs);
/* Whole extended state. size in: room, out: bytes used. */
must_check int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size);
must_check int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size);
/* In a call that waits under another mask (sigsuspend, ppoll) this is the mask to come back; setting it ends the temporary one, and the call must be restarted. */
must_check int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask);
must_check int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask);
/* Where the thread's struct rseq lies; 0 = it has none, or the kernel is too old to tell. */
must_check int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq);

/*
 * Runs to the next system-call stop: TRACEE_SYSCALL_ENTRY, after that TRACEE_SYSCALL_EXIT. Stops of other kinds are passed through: block signals before.
 * -ETIMEDOUT: still TRACEE_RUNNING.
 */
must_check int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms);
/* From wherever it is to TRACEE_STOPPED, without running the thread further than needed. */
must_check int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms);
/*
 * Runs the thread until it is about to execute the instruction at address: TRACEE_STOPPED there. Other threads never notice. In any other case it is TRACEE_STOPPED
 * somewhere else: -ETIMEDOUT; -ENOTSUP: no hardware breakpoint to be had, or the target ignores or blocks SIGTRAP (its disposition would be lost).
 */
must_check int tracee_run_to(struct tracee *tracee, remote_addr address, int deadline_ms);

#endif
