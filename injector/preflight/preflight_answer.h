/* SPDX-License-Identifier: MIT */
/* preflight_answer.h - the facts that preflight.h finds out about a process. */
#ifndef HI_PREFLIGHT_ANSWER_H
#define HI_PREFLIGHT_ANSWER_H

#include "hi_runtimes.h"
#include "hooked.h"
#include "procfs.h"
#include "unhooked.h"

/*
 * In the order in which they are checked. Everything but OK is a refusal (HI_EXIT_REFUSED).
 * preflight_verdict_name gives the word for each on which scripts may rely.
 */
enum preflight_verdict {
	PREFLIGHT_OK = 0,
	/* Is there such a process? */
	/* the /proc that the injector sees does not number processes as its system calls do */
	PREFLIGHT_FOREIGN_PROC,
	PREFLIGHT_NO_PROCESS,
	PREFLIGHT_HIDDEN, /* by hidepid */
	PREFLIGHT_SELF,
	PREFLIGHT_KERNEL_THREAD,
	PREFLIGHT_ZOMBIE,
	PREFLIGHT_TRACED,
	/* Is the injector allowed to? */
	PREFLIGHT_OTHER_USER,
	PREFLIGHT_NOT_DUMPABLE,
	PREFLIGHT_CAPABILITIES, /* it has some that the injector lacks */
	PREFLIGHT_YAMA,
	PREFLIGHT_USER_NAMESPACE,
	PREFLIGHT_SECURITY_MODULE, /* SELinux, AppArmor */
	PREFLIGHT_SANDBOXED,       /* the injector is sandboxed, most likely by Landlock */
	/* the injector's seccomp profile, or an emulator, blocks system calls that it needs */
	PREFLIGHT_NO_PTRACE,
	PREFLIGHT_STRICT_SECCOMP,
	PREFLIGHT_SECCOMP_FILTER,
	/* Would the injector work in it? */
	PREFLIGHT_SHADOW_STACK,
	PREFLIGHT_FROZEN,
	PREFLIGHT_UNINTERRUPTIBLE,
	PREFLIGHT_MEMORY_SHARED, /* by a process that the injector cannot examine */
	PREFLIGHT_INSTRUMENTED,
	PREFLIGHT_ATTACHED, /* by a heapinject that is alive */
	PREFLIGHT_ORPHAN,   /* left by a heapinject that died, or that could not remove it */
	PREFLIGHT_WRONG_ABI,
	PREFLIGHT_NO_ROOM,
	/*
	 * the dynamic linker was busy all the time; preflight waits for a program that has just
	 * been started
	 */
	PREFLIGHT_LOADING,
	PREFLIGHT_NO_HOOKS, /* no symbol names an allocator, or nothing of it can be hooked */
	PREFLIGHT_VERDICTS,
};

enum preflight_libc {
	PREFLIGHT_LIBC_UNKNOWN = 0,
	PREFLIGHT_LIBC_GLIBC,
	PREFLIGHT_LIBC_MUSL,
	PREFLIGHT_LIBC_STATIC
};

struct preflight_function {
	remote_addr address; /* 0 = the allocator has no such function */
	enum hooked_way way;
	enum hi_function covered_by;
	enum entry_relay by; /* of HOOKED_ENTRY */
	enum entry_obstacle obstacle;
};
struct preflight_allocator {
	enum allocator_family family;
	char prefix[HI_ALLOCATOR_NAME_MAX]; /* of its functions' names */
	char path[256];                     /* of its object */
	bool is_main;                       /* its object is the program itself */
	bool is_left_alone;   /* it may be a wrapper of another one (target_allocators.h) */
	bool hides_functions; /* as in struct allocator */
	size_t entry_count;   /* functions to hook at their entry */
	struct preflight_function function[HI_FUNCTION_COUNT];
};

/*
 * Facts are filled in as far as the checks got; the rest is zero. Strings are safe to print,
 * whatever names the target has chosen.
 */
struct preflight {
	pid_t asked; /* the number that the user gave; a thread id stands for its process */
	pid_t pid;   /* 0: there is no such process */
	/* a live thread through which /proc can be read: the leader, unless that is a zombie */
	pid_t tid;
	char comm[16];
	char exe[256];
	struct proc_status status; /* of tid */
	enum preflight_libc libc;
	char libc_version[16];
	char allocator[256];                                   /* the object that defines malloc */
	struct preflight_allocator allocators[ALLOCATORS_MAX]; /* the first is that one */
	size_t allocator_count;
	/*
	 * number of the allocator's functions that can be hooked at their entry, if nothing changes
	 * before that
	 */
	size_t entry_count;
	size_t slot_count; /* number of slots to hook for the other functions */
	/* slots that lead to neither the allocator nor a lazy stub: left alone */
	size_t foreign_slot_count;
	struct unhooked_list unhooked;
	uint32_t runtimes; /* 1 << enum hi_runtime, of those that it runs */
	/*
	 * it inherited the parts of the injector that its parent had when it was forked: attach
	 * removes these first
	 */
	bool is_inherited;
	/* ORPHAN: the session had come to its end, and could not remove all */
	bool has_ended;
	/* ATTACHED, ORPHAN: pid in the earlier session's control block; 0 = not known */
	pid_t injector;

	enum preflight_verdict verdict;
	char cause[192];
	char remedy[192];
};

#endif
