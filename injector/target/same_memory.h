/* SPDX-License-Identifier: MIT */
/*
 * same_memory.h - does another process run in the same memory as a given one? That is so after
 * clone with CLONE_VM and without CLONE_THREAD.
 *
 * kcmp gives a certain answer. Where it is missing (kernels without it, and containers whose
 * seccomp profile permits ptrace but not kcmp), the maps and sizes of processes that started with
 * the same stack are compared. Then a forked child that has neither mapped nor touched anything
 * since may look the same. Of a process that the injector may not examine, only the sizes can be
 * seen: if all of them are equal again and again, it may share the memory.
 */
#ifndef HI_SAME_MEMORY_H
#define HI_SAME_MEMORY_H

#include <stdbool.h>

#include "memory.h"

enum same_memory {
	SAME_MEMORY_NO,
	SAME_MEMORY_YES,
	SAME_MEMORY_UNKNOWN, /* the injector may not examine it, and it may share the memory */
};

/* The process with which others are compared. */
struct same_memory_reference {
	pid_t pid;
	pid_t tid; /* a thread of it that has memory: a leader that has exited has none */
	bool has_kcmp;
	/*
	 * the injector has CAP_SYS_PTRACE; without it, processes of other users are not asked
	 * about, as each attempt would be recorded in the audit log
	 */
	bool may_ask_anybody;
	uid_t uid; /* the injector's */
	/* an exited child of the injector, without memory; 0 = there is none now */
	pid_t nobody;
};

/* -ESRCH: the process is gone. Nothing is held open. */
must_check int same_memory_open(pid_t pid, struct same_memory_reference *out_reference);
/*
 * Enclose the questions about thousands of processes: between the two calls each question is
 * answered faster.
 */
void same_memory_boost(struct same_memory_reference *reference);
void same_memory_restore(struct same_memory_reference *reference);
/* Does the reference's thread still have memory? If not, answers of NO mean nothing. */
bool same_memory_is_sound(const struct same_memory_reference *reference);
/* pid: a process, or one of its threads. NO if it has exited. */
enum same_memory same_memory_ask(const struct same_memory_reference *reference, pid_t pid);

#endif
