/* SPDX-License-Identifier: MIT */
/*
 * ptrace.h - the only file that calls ptrace(), and that knows what a wait status means; between the files of tracee, but for what they declare as theirs.
 *
 * A stopped thread is reported as one of three kinds of stop; all others end the tracee. Nothing here waits for more than a nap.
 */
#ifndef HI_PTRACE_H
#define HI_PTRACE_H

#include <linux/filter.h>
#include <stdbool.h>

#include "arch.h"
#include "memory.h"

#define PTRACE_NAP_NS 1000000

enum tracee_state {
	TRACEE_NONE = 0,      /* not ours */
	TRACEE_RUNNING,       /* seized, running */
	TRACEE_STOPPED,       /* PTRACE_EVENT_STOP: registers may be restored and the thread let go */
	TRACEE_SYSCALL_ENTRY, /* only while a remote system call is made */
	TRACEE_SYSCALL_EXIT,
	TRACEE_GONE,
};

struct tracee {
	pid_t pid, tid;
	enum tracee_state state;
	bool group_stopped; /* was in SIGSTOP's stop, and is to stay there */
	int64_t since_ns;   /* when it was interrupted, CLOCK_MONOTONIC; or when it was last seen to run on all the same */
	int64_t held_ns;    /* from then until tracee_detach; 0 = it did not stop */
	bool is_held;       /* it has stopped, and has not been let go of: held.h counts it then */
	bool minds_filters; /* the next two are known */
	bool has_filter;    /* it is under a seccomp filter, suspended or not */
	bool is_filtered;   /* a seccomp filter judges the calls we make there: we may not suspend it (CAP_SYS_ADMIN), or the kernel cannot */
};

enum ptrace_stop {
	STOP_EVENT,   /* PTRACE_EVENT_STOP: ours, or a group-stop */
	STOP_SYSCALL, /* entry or exit of a system call */
	STOP_SIGNAL,  /* about to be delivered: how the thread is resumed decides */
};

/* Every request goes through here: the seam where tests make the n-th one fail, by this name. 0 or negative errno. */
must_check int ptrace_request(int number, const char *name, pid_t tid, uintptr_t address, uintptr_t data);
/*
 * May we trace at all, and suspend seccomp filters? Asked of a child of ours that is killed afterwards: it stays seized. 0, or what the kernel says (-EPERM,
 * -ENOSYS: a seccomp profile of ours, an emulator).
 */
must_check int tracee_probe(pid_t child, bool *out_may_suspend);

/* What waitpid told of it. 0, or -ESRCH, and it is TRACEE_GONE. */
must_check int ptrace_classify(struct tracee *tracee, int status, enum ptrace_stop *out_stop, int *out_signal);
/* It has not stopped: as long as it runs for itself nobody holds it. */
void ptrace_note_running(struct tracee *tracee, int64_t seen_ns);
/* Until one of those traced may have stopped, PTRACE_NAP_NS or left_ns at most; with SIGCHLD blocked. */
void ptrace_nap(int64_t left_ns);
must_check int ptrace_resume(struct tracee *tracee, int number, int signal);
/* After an INTERRUPT: passes on whatever comes first, and interrupts anew, as any stop takes a pending interrupt with it. -EAGAIN: not there yet. */
must_check int ptrace_approach_stop(struct tracee *tracee, enum ptrace_stop stop, int signal);
/* After tracee_interrupt: 0 = it has stopped, -EAGAIN = not yet, -ESRCH = it never will. */
must_check int tracee_has_stopped(struct tracee *tracee);
/* Counts the stop that is about to end (held.h), if there was one; once. */
void tracee_note_held(struct tracee *tracee);
/* A stopped thread goes on where it stands. What tracee_detach does besides concerns its hold. */
int tracee_detach_stopped(const struct tracee *tracee);

must_check int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs);
must_check int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs);
/* Whole extended state. size in: room, out: bytes used. */
must_check int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size);
must_check int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size);
/*
 * In a call that waits under another mask (sigsuspend, ppoll) this is the mask to come back; setting it ends the temporary one, and the call must be restarted.
 */
must_check int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask);
must_check int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask);
/*
 * One word of the target's memory, whatever the protection of its page. By thread and not by tracee: -ESRCH also means that the calling thread does not hold
 * this one stopped.
 */
must_check int tracee_poke(pid_t tid, remote_addr to, uint64_t word);
/* Where the thread's struct rseq lies; 0 = it has none, or the kernel is too old to tell. */
must_check int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq);

/* The index-th of the thread's seccomp filters; the rest of the room is zeroed. -ENOENT: it has no more. */
must_check int tracee_get_filter(const struct tracee *tracee, unsigned index, struct sock_filter into[BPF_MAXINSNS]);

#endif
