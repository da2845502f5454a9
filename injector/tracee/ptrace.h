/* SPDX-License-Identifier: MIT */
/*
 * ptrace.h - the only module that calls ptrace() and knows what a wait status means. For the files
 * of tracee only, except for the functions named tracee_*.
 *
 * A stopped thread is reported as one of three kinds of stop; all others end the tracee. Nothing
 * here waits for more than a nap.
 */
#ifndef HI_PTRACE_H
#define HI_PTRACE_H

#include <linux/filter.h>
#include <stdbool.h>

#include "arch.h"
#include "memory.h"

#define PTRACE_NAP_NS 1000000

enum tracee_state {
	TRACEE_NONE = 0, /* not ours */
	TRACEE_RUNNING,  /* seized, running */
	/* PTRACE_EVENT_STOP: registers may be restored and the thread let go */
	TRACEE_STOPPED,
	TRACEE_SYSCALL_ENTRY, /* only while a remote system call is made */
	TRACEE_SYSCALL_EXIT,
	TRACEE_GONE,
};

struct tracee {
	pid_t pid, tid;
	enum tracee_state state;
	bool group_stopped; /* was in a group-stop (SIGSTOP), and must stay there */
	/* CLOCK_MONOTONIC: when it was interrupted, or was last seen running after that */
	int64_t since_ns;
	int64_t held_ns;    /* from since_ns until tracee_detach; 0 = it did not stop */
	bool is_held;       /* it has stopped and was not let go yet: held.h counts it then */
	bool minds_filters; /* has_filter and is_filtered are known */
	bool has_filter;    /* it is under a seccomp filter, suspended or not */
	struct arch_call
		before;   /* what it was in when it was interrupted, if ARCH_STOP_ENDS_CALLS */
	bool is_followed; /* no signal has reached it since it was seen in that call */
	bool is_rewound;  /* it begins its call anew, which the stop had ended */
	/*
	 * a seccomp filter judges the calls that we make in it: we may not suspend filters
	 * (CAP_SYS_ADMIN), or the kernel cannot
	 */
	bool is_filtered;
};

enum ptrace_stop {
	STOP_EVENT,   /* PTRACE_EVENT_STOP: ours, or a group-stop */
	STOP_SYSCALL, /* entry or exit of a system call */
	STOP_SIGNAL,  /* a signal is about to be delivered: how the thread is resumed decides */
};

/*
 * All requests go through this function: here tests make the n-th request of this name fail. 0 or
 * negative errno.
 */
must_check int ptrace_request(int number, const char *name, pid_t tid, uintptr_t address,
			      uintptr_t data);
/*
 * May the injector trace at all, and suspend seccomp filters? Tried on a child of ours that is
 * killed afterwards: it stays seized. 0, or the kernel's error (-EPERM, -ENOSYS: a seccomp profile
 * of ours, an emulator).
 */
must_check int tracee_probe(pid_t child, bool *out_may_suspend);

/*
 * The next change of state of a traced thread, as waitpid with WNOHANG returns it. The exit of
 * `kept`, a child of ours that somebody else waits for, is reported and not collected: to the
 * kernel we are both its parent and its tracer, so that a wait of the tracer would take its status
 * away.
 */
pid_t ptrace_wait(pid_t tid, int *out_status);
/* The same of any thread that the calling thread traces; returns its tid. */
pid_t ptrace_wait_any(int *out_status);
void ptrace_keep_status(pid_t child);

/* Classifies the status that waitpid returned for it. 0, or -ESRCH, and it is TRACEE_GONE. */
must_check int ptrace_classify(struct tracee *tracee, int status, enum ptrace_stop *out_stop,
			       int *out_signal);
/* Records that it had not stopped at seen_ns: a thread that still runs is not held. */
void ptrace_note_running(struct tracee *tracee, int64_t seen_ns);
/*
 * Sleeps until a traced thread may have stopped, for PTRACE_NAP_NS or left_ns at most. SIGCHLD must
 * be blocked.
 */
void ptrace_nap(int64_t left_ns);
must_check int ptrace_resume(struct tracee *tracee, int number, int signal);
must_check int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs);
must_check int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs);
/*
 * Whole extended state. size in: room, out: bytes used. -EAGAIN: the thread has more of it just now
 * (arch_unsaved_types), and to set this would change that.
 */
must_check int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size);
must_check int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size);
/*
 * Get and set the signal mask. In a call that waits under another mask (sigsuspend, ppoll) this is
 * the mask to be restored after it; setting it ends the temporary mask, and the call must be
 * restarted.
 */
must_check int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask);
must_check int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask);
/*
 * Writes one word of the target's memory, whatever the protection of its page. Takes a thread id
 * and not a tracee: -ESRCH also means that the calling thread does not hold this one stopped.
 */
must_check int tracee_poke(pid_t tid, remote_addr to, uint64_t word);
/* Address of the thread's struct rseq; 0 = it has none, or the kernel is too old to report it. */
must_check int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq);

/*
 * The index-th of the thread's seccomp filters; the rest of the room is zeroed. -ENOENT: it has no
 * more.
 */
must_check int tracee_get_filter(const struct tracee *tracee, unsigned index,
				 struct sock_filter into[BPF_MAXINSNS]);

#endif
