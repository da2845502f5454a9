/* SPDX-License-Identifier: MIT */
/*
 * preflight.h - may we attach to this process? The answer, with the facts behind it, without touching the process.
 *
 * ptrace answers EPERM to nearly everything, so the causes are looked for one after the other, and the first one found is given together with one
 * remedy. A yes can be out of date a moment later; a no is meant for the user's eyes.
 */
#ifndef HI_PREFLIGHT_H
#define HI_PREFLIGHT_H

#include <stdio.h>

#include "procfs.h"

/* In the order in which they are looked for. Everything but OK is a refusal (HI_EXIT_REFUSED). */
enum preflight_verdict {
	PREFLIGHT_OK = 0,
	PREFLIGHT_NO_PROCESS,
	PREFLIGHT_SELF,
	PREFLIGHT_KERNEL_THREAD,
	PREFLIGHT_ZOMBIE,
	PREFLIGHT_TRACED,
	PREFLIGHT_SECCOMP,
	PREFLIGHT_NOT_PERMITTED,
	PREFLIGHT_SHADOW_STACK,
	PREFLIGHT_FROZEN,
	PREFLIGHT_ATTACHED, /* by a heapinject that is alive */
	PREFLIGHT_ORPHAN,   /* remains of a heapinject that died */
	PREFLIGHT_INSTRUMENTED,
	PREFLIGHT_WRONG_ABI,
	PREFLIGHT_LOADING,  /* the dynamic linker was at work all the time; a program that has just been started is waited for */
	PREFLIGHT_NO_HOOKS, /* static, or an allocator that nothing imports */
};

enum preflight_libc { PREFLIGHT_LIBC_UNKNOWN = 0, PREFLIGHT_LIBC_GLIBC, PREFLIGHT_LIBC_MUSL, PREFLIGHT_LIBC_STATIC };

/* Facts are filled in as far as the checks came; the rest is zero. Strings are safe to print. */
struct preflight {
	pid_t asked; /* the number the user gave: a thread's stands for its process */
	pid_t pid;
	pid_t tid; /* a live thread through which /proc can be read: the leader, unless that is a zombie */
	char comm[16];
	char exe[256];
	struct proc_status status; /* of tid */
	enum preflight_libc libc;
	char libc_version[16];
	char allocator[256]; /* the object that defines malloc */
	size_t slot_count;
	size_t foreign_slot_count; /* slots that lead to neither the allocator nor a lazy stub: left alone */
	pid_t injector;            /* ATTACHED, ORPHAN: pid in the earlier session's control block; 0 = not known */

	enum preflight_verdict verdict;
	char cause[192];
	char remedy[192];
};

/* 0 whatever the verdict is; negative errno if the question could not be answered. */
must_check int preflight_run(pid_t pid, struct preflight *out_preflight);

/* The refusal in one line without newline: cannot attach to 1234 (nginx): CAUSE; REMEDY */
void preflight_explain(const struct preflight *preflight, char *line, size_t size);

/* What `heapinject check` prints for a process that can be attached to. */
void preflight_print(FILE *stream, const struct preflight *preflight);

#endif
