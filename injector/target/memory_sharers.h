/* SPDX-License-Identifier: MIT */
/*
 * memory_sharers.h - all threads that run in the target's memory: those of the process itself, and
 * those of other processes that share it (same_memory.h). Code that must know where every thread
 * is, or must stop all of them, gets the list here.
 *
 * To find the other processes, the injector examines all processes, which takes some microseconds
 * each. For a fraction of a second after that it examines only those that were created since:
 * memory is shared from creation on or never, and pids are assigned in ascending order. A child of
 * vfork is such a process until it execs or ends.
 *
 * Not seen are processes outside the injector's pid namespace and, with hidepid, those of other
 * users. A process that was created with a pid of its parent's choice (clone3 with set_tid, which
 * takes CAP_CHECKPOINT_RESTORE) is seen only when all are examined.
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
	 * A child of vfork: a thread of its parent waits for it. While the child is stopped, that
	 * thread cannot stop. And if the child is about to exec a program with privileges, being
	 * traced by the injector would cost the program these privileges.
	 */
	bool is_awaited;
};

struct memory_threads {
	struct memory_thread *thread; /* threads of the process itself first */
	size_t count;
	/* a process that the injector may not examine and that may share the memory; 0 = none */
	pid_t unknown;
};

/* -ESRCH: the process is gone. */
must_check int memory_threads_list(pid_t pid, struct memory_threads *out_threads);
void memory_threads_close(struct memory_threads *threads);
/* The process that a listed thread belongs to; `otherwise` if it is not listed. */
pid_t memory_threads_pid(const struct memory_threads *threads, pid_t tid, pid_t otherwise);
/*
 * Is thread tid, with this current call, waiting in vfork until the child that it created has
 * exec'd or ended?
 */
bool memory_thread_is_in_vfork(pid_t tid, const struct proc_syscall *call);

#endif
