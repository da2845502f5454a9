/* SPDX-License-Identifier: MIT */
/* preflight_answer.h - what preflight.h finds out of a process. */
#ifndef HI_PREFLIGHT_ANSWER_H
#define HI_PREFLIGHT_ANSWER_H

#include "procfs.h"
#include "unhooked.h"

/*
 * In the order in which they are looked for. Everything but OK is a refusal (HI_EXIT_REFUSED). preflight_verdict_name gives the word for each that scripts may
 * rely on.
 */
enum preflight_verdict {
	PREFLIGHT_OK = 0,
	/* Is there such a process? */
	PREFLIGHT_FOREIGN_PROC, /* the /proc that we see does not number processes as our system calls do */
	PREFLIGHT_NO_PROCESS,
	PREFLIGHT_HIDDEN, /* by hidepid */
	PREFLIGHT_SELF,
	PREFLIGHT_KERNEL_THREAD,
	PREFLIGHT_ZOMBIE,
	PREFLIGHT_TRACED,
	/* May we? */
	PREFLIGHT_OTHER_USER,
	PREFLIGHT_NOT_DUMPABLE,
	PREFLIGHT_CAPABILITIES, /* it has some that we lack */
	PREFLIGHT_YAMA,
	PREFLIGHT_USER_NAMESPACE,
	PREFLIGHT_SECURITY_MODULE, /* SELinux, AppArmor */
	PREFLIGHT_SANDBOXED,       /* we are, most likely by Landlock */
	PREFLIGHT_NO_PTRACE,       /* our seccomp profile, or an emulator, keeps system calls from us that we need */
	PREFLIGHT_STRICT_SECCOMP,
	PREFLIGHT_SECCOMP_FILTER,
	/* Would the machinery work in it? */
	PREFLIGHT_SHADOW_STACK,
	PREFLIGHT_FROZEN,
	PREFLIGHT_UNINTERRUPTIBLE,
	PREFLIGHT_MEMORY_SHARED, /* by a process that we cannot look at */
	PREFLIGHT_INSTRUMENTED,
	PREFLIGHT_ATTACHED, /* by a heapinject that is alive */
	PREFLIGHT_ORPHAN,   /* remains of a heapinject that died */
	PREFLIGHT_WRONG_ABI,
	PREFLIGHT_NO_ROOM,
	PREFLIGHT_LOADING,  /* the dynamic linker was at work all the time; a program that has just been started is waited for */
	PREFLIGHT_NO_HOOKS, /* static, or an allocator that nothing imports */
	PREFLIGHT_VERDICTS,
};

enum preflight_libc { PREFLIGHT_LIBC_UNKNOWN = 0, PREFLIGHT_LIBC_GLIBC, PREFLIGHT_LIBC_MUSL, PREFLIGHT_LIBC_STATIC };

/* Facts are filled in as far as the checks came; the rest is zero. Strings are safe to print, whatever names the target has chosen. */
struct preflight {
	pid_t asked; /* the number the user gave: a thread's stands for its process */
	pid_t pid;   /* 0: there is no such process */
	pid_t tid;   /* a live thread through which /proc can be read: the leader, unless that is a zombie */
	char comm[16];
	char exe[256];
	struct proc_status status; /* of tid */
	enum preflight_libc libc;
	char libc_version[16];
	char allocator[256];       /* the object that defines malloc */
	size_t entry_count;        /* of its functions, so many are hooked where they begin, if nothing comes between; */
	size_t slot_count;         /* and so many slots for the others */
	size_t foreign_slot_count; /* slots that lead to neither the allocator nor a lazy stub: left alone */
	struct unhooked_list unhooked;
	bool is_inherited; /* it has what its parent had of us when it was forked: attach removes that first */
	pid_t injector;    /* ATTACHED, ORPHAN: pid in the earlier session's control block; 0 = not known */

	enum preflight_verdict verdict;
	char cause[192];
	char remedy[192];
};

#endif
