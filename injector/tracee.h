/* SPDX-License-Identifier: MIT */
/*
 * tracee.h - one thread of the target under ptrace: the only file that calls ptrace() is tracee.c, and no wait status leaves it.
 *
 * SEIZE and INTERRUPT, never ATTACH; no option that kills the target with us. Every wait has a deadline. Signals that arrive first are passed on.
 * Calls must come from the thread that seized. 0 or negative errno: -ESRCH gone, -EPERM refused, -ETIMEDOUT did not stop (state D, vfork parent).
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
};

/* Seize and interrupt, back to back; on success the thread is TRACEE_STOPPED. On failure nothing is attached. */
must_check int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms);
/* Lets the thread go, from TRACEE_STOPPED. Safe on a half-open tracee; idempotent. */
int tracee_detach(struct tracee *tracee);

must_check int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs);
must_check int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs);
/* Whole extended state (NT_X86_XSTATE and its kin). size in: room, out: bytes used. */
must_check int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size);
must_check int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size);
must_check int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask);
must_check int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask);
/* The thread's rseq critical section descriptor, 0 = in none (or kernel too old to tell). */
must_check int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq, uint32_t *out_size);

/* Runs to the next system-call stop (TRACEE_SYSCALL_ENTRY, then TRACEE_SYSCALL_EXIT). -ECANCELED: stopped for another reason, now TRACEE_STOPPED. */
must_check int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms);
/* From a system-call stop to TRACEE_STOPPED, without running the thread further than needed. */
must_check int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms);
/* Hardware breakpoint of this thread alone, at address (0 = remove). Then run: TRACEE_STOPPED when hit. */
must_check int tracee_run_to(struct tracee *tracee, remote_addr address, int deadline_ms);

#endif
