/* SPDX-License-Identifier: MIT */
/*
 * The room preflight/: may this process be attached to? preflight.h has the answer and preflight_print.c says it; a check is a function of one of the files
 * preflight_*.c and a line in the table of preflight.c. Looks from outside only; uses arena/, hooks/, elf/, target/ for what attach would find.
 */

/*
 * preflight.h - may we attach to this process? The answer, with the facts behind it, without touching the process.
 *
 * ptrace answers EPERM to nearly everything, so the causes are looked for one after the other, and the first one found is given together with one
 * remedy. A yes can be out of date a moment later; a no is meant for the user's eyes.
 */
#ifndef HI_PREFLIGHT_H
#define HI_PREFLIGHT_H

#include <stdio.h>

#include "arena.h"
#include "elfimage.h"
#include "memory.h"
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

/* For who goes on with the program that was looked at, and with no other: its memory, and what was read of its objects (elf_images_update). */
struct preflight_program {
	struct memory memory;
	struct elf_images images;
};

/*
 * plan: what would be mapped there, for which it must have room; NULL = with defaults. 0 whatever the verdict is; negative errno if the question could not be
 * answered. out_program: to be closed by the caller; empty if the verdict is no. NULL: nobody goes on.
 */
must_check int preflight_run(pid_t pid, const struct arena_plan *plan, struct preflight *out_preflight, struct preflight_program *out_program);

/* ok, no-process, other-user ...: documented in heapinject(1), never renamed. */
const char *preflight_verdict_name(enum preflight_verdict verdict);

/* The refusal in one line without newline: cannot attach to 1234 (nginx): CAUSE; REMEDY */
void preflight_explain(const struct preflight *preflight, char *line, size_t size);

/* What `heapinject check` prints for a process that can be attached to. */
void preflight_print(FILE *stream, const struct preflight *preflight);
/* The same, and any refusal, as one JSON object on one line; its schema is in heapinject(1). Valid JSON whatever bytes the target's names hold. */
void preflight_print_json(FILE *stream, const struct preflight *preflight);

#endif
