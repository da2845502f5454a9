/* SPDX-License-Identifier: MIT */
/*
 * same_memory.h - does a process run in the memory of another, without being it? So it is after clone with CLONE_VM and without CLONE_THREAD.
 *
 * kcmp tells for certain. Containers whose seccomp profile knows ptrace but not kcmp, and kernels without it, have maps and sizes compared, of processes that
 * were begun with the same stack: a forked child that has neither mapped nor touched anything since may look the same.
 * Of a process that we may not look at no more can be seen than its sizes: where all of them are equal again and again, it may be one.
 */
#ifndef HI_SAME_MEMORY_H
#define HI_SAME_MEMORY_H

#include <stdbool.h>

#include "memory.h"

enum same_memory {
	SAME_MEMORY_NO,
	SAME_MEMORY_YES,
	SAME_MEMORY_UNTOLD, /* we may not look, and it may be so */
};

/* What is asked about. */
struct same_memory_reference {
	pid_t pid;
	pid_t tid; /* a thread of it that has memory: a leader that has ended has none */
	bool has_kcmp;
	bool may_ask_anybody; /* we have CAP_SYS_PTRACE: others' processes are not even asked, as each question would stand in the audit log */
	uid_t uid;            /* ours */
	pid_t nobody;         /* a child of ours that has ended and has no memory; 0 = there is none now */
};

/* -ESRCH: the process is gone. Nothing is held open. */
must_check int same_memory_open(pid_t pid, struct same_memory_reference *out_reference);
/* Around questions about thousands of processes, which are answered faster in between. */
void same_memory_hurry(struct same_memory_reference *reference);
void same_memory_calm_down(struct same_memory_reference *reference);
/* Has its thread memory still? Else answers of NO mean nothing. */
bool same_memory_is_sound(const struct same_memory_reference *reference);
/* pid: a process, or one of its threads. NO for one that is gone. */
enum same_memory same_memory_ask(const struct same_memory_reference *reference, pid_t pid);

#endif
