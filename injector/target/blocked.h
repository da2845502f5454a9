/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - threads that do not stop when asked to, as the kernel does something for them that is not to be interrupted (state D): why, and what they may do
 * to the target's memory meanwhile. Seen from outside; nobody is stopped for it.
 *
 * A thread in such a wait that has been asked to stop (tracee_halt) will do so before its next instruction. So it may be taken for one that stands still, if
 * what the kernel is doing for it does not matter. In vfork that is nothing at all, but its child runs in the same memory, and has to be stopped instead.
 */
#ifndef HI_BLOCKED_H
#define HI_BLOCKED_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch.h"
#include "procfs.h"

struct blocked {
	pid_t tid;
	bool is_blocked;              /* state D; else nothing of the rest is known */
	enum arch_call_effect effect; /* what the kernel may do to its memory meanwhile; in vfork, what its child's wait does */
	pid_t child;                  /* that it waits for in vfork, in the same memory; 0 = it does not */
	bool child_traced;            /* by somebody who is not us: it cannot be stopped */
	struct proc_syscall call;
};

/* The state letter of a thread; 0 = it is gone. */
char blocked_state(pid_t pid, pid_t tid);
/* -ESRCH: the thread is gone. */
must_check int blocked_look(pid_t pid, pid_t tid, struct blocked *out_blocked);

#define BLOCKED_TEXT 192
/* As a clause, for people: "thread 12 (launcher) waits in vfork for its child 13 (sh)", "thread 12 (x) does not stop: state D in nfs_wait_bit_killable". */
void blocked_explain(pid_t pid, pid_t tid, char text[BLOCKED_TEXT]);

#endif
