/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - threads that do not stop when asked to, because the kernel does something for them
 * that cannot be interrupted (state D): the cause, and what the kernel may do to the target's
 * memory meanwhile. Reads /proc only; stops no thread.
 *
 * A thread in such a wait that has been asked to stop (tracee_halt) stops before its next
 * instruction. So it can be treated as stopped if what the kernel does for it does not matter. In
 * vfork the kernel does nothing, but the child runs in the same memory and has to be stopped
 * instead.
 */
#ifndef HI_BLOCKED_H
#define HI_BLOCKED_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch.h"
#include "procfs.h"

struct blocked {
	pid_t tid;
	bool is_blocked; /* state D; if false, none of the other fields is known */
	/*
	 * what the kernel may do to its memory meanwhile; for a thread in vfork, what it may do for
	 * the child's current call
	 */
	enum arch_call_effect effect;
	/* the vfork child that it waits for, in the same memory; 0 = none */
	pid_t child;
	/* by a tracer other than the injector: it cannot be stopped */
	bool child_traced;
	struct proc_syscall call;
};

/* The state letter of a thread, from /proc; 0 = the thread is gone. */
char blocked_state(pid_t pid, pid_t tid);
/* -ESRCH: the thread is gone. */
must_check int blocked_look(pid_t pid, pid_t tid, struct blocked *out_blocked);

#define BLOCKED_TEXT 192
/*
 * Describes it as a clause for the user: "thread 12 (launcher) waits in vfork for its child 13
 * (sh)", "thread 12 (x) does not stop: state D in nfs_wait_bit_killable".
 */
void blocked_explain(pid_t pid, pid_t tid, char text[BLOCKED_TEXT]);

#endif
