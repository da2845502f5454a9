/* SPDX-License-Identifier: MIT */
/*
 * memory_sharers.h - all threads that run in the target's memory: those of the process itself, and those of others that share it (same_memory.h). Whoever has
 * to know where every thread stands, or to have all of them stopped, asks here.
 *
 * To find those others all processes are looked at, which takes some microseconds each; but for a fraction of a second later only those that were born since:
 * memory is shared from birth or never, and processes are numbered one after the other. A child of vfork is one for as long as it takes to exec or to end.
 *
 * Not seen are processes outside of our pid namespace, and with hidepid those of others. A process that was born under a number of its parent's choice
 * (clone3 with set_tid, which takes CAP_CHECKPOINT_RESTORE) is seen when all are looked at.
 */
#ifndef HI_MEMORY_SHARERS_H
#define HI_MEMORY_SHARERS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"
#include "procfs.h"

struct memory_thread {
	pid_t pid, tid;
	/*
	 * A child of vfork: a thread of its parent waits for it. To stop it is to keep that thread from its own stop; and were it about to exec a program with
	 * privileges, to be traced by us would cost it these.
	 */
	bool is_awaited;
};

struct memory_threads {
	struct memory_thread *thread; /* those of the process first */
	size_t count;
	pid_t untold; /* a process that we may not look at, and that may share the memory; 0 = none */
};

/* -ESRCH: the process is gone. */
must_check int memory_threads_list(pid_t pid, struct memory_threads *out_threads);
void memory_threads_close(struct memory_threads *threads);
/* The process that a listed thread belongs to; `otherwise` if it is not listed. */
pid_t memory_threads_pid(const struct memory_threads *threads, pid_t tid, pid_t otherwise);
/* Is this call, which thread tid is in, one that waits until the child that it bore has exec'd or ended? */
bool memory_thread_is_in_vfork(pid_t tid, const struct proc_syscall *call);

#endif
