/* SPDX-License-Identifier: MIT */
/*
 * remote.h - one borrowed thread of the target: system calls made there, and its exact restoration.
 *
 * Between remote_open and remote_close the thread is stopped, its registers, extended state and signal mask are saved, all signals are blocked, and a guard
 * frame (a complete rt_sigframe of the original context) lies below its red zone: if the injector dies at any instant, the thread returns into
 * rt_sigreturn and goes on by itself. System calls run from a `syscall; ret` that exists in the target. No text is written, no code of the target's
 * libraries runs, except by remote_call.
 *
 * Fault injection: every remote operation asks fault_next() first; in builds with -DHI_FAULTS the n-th one fails (or kills the injector), see fault.h.
 */
#ifndef HI_REMOTE_H
#define HI_REMOTE_H

#include "procfs.h"
#include "tracee.h"

/* Where in the target the borrowed thread executes: found once per session, re-verified in live memory at each remote_open. */
struct remote_gadgets {
	remote_addr syscall_ret; /* `syscall; ret` */
	remote_addr sigreturn;   /* code that makes the rt_sigreturn system call */
};
/* Scans executable mappings: libc first, then the vdso, then the main program, then the rest. -ENOENT: a gadget does not exist. */
must_check int remote_gadgets_find(const struct maps *maps, const struct memory *memory, struct remote_gadgets *out_gadgets);

struct remote {
	struct tracee tracee;
	const struct memory *memory;
	struct remote_gadgets gadgets;
	struct arch_regs original;  /* already fixed up for restart (EINTR rewind) and rseq abort */
	struct arch_regs guarded;   /* what each remote call starts from */
	void *xstate;
	size_t xstate_size;
	uint64_t sigmask;
	remote_addr scratch;        /* a few hundred bytes of dead stack below the guard frame, for arguments */
	size_t scratch_size;
	bool is_guarded;
	uint64_t stopped_ns;        /* how long the thread has been held, set by remote_close */
};

/*
 * Chooses a thread by looking (never one in state D, never one with a tiny stack), stops it, arms the guard. Tries several threads.
 * deadline_ms for the whole. -EAGAIN: no thread could be borrowed now. -ESRCH: the target is gone.
 */
must_check int remote_open(struct remote *remote, pid_t pid, const struct memory *memory, const struct remote_gadgets *gadgets, int deadline_ms);
/* The same with a thread that is TRACEE_STOPPED already (the dlopen loader chose it). Takes the tracee over on success. */
must_check int remote_adopt(struct remote *remote, struct tracee *tracee, const struct memory *memory, const struct remote_gadgets *gadgets);
/* Restores the thread exactly and lets it go. Idempotent, works half-open. The first error, after having done all it could. */
int remote_close(struct remote *remote);

/* One system call; out_result is its return value (negative errno of the target's kernel call included). The return value is about the transport only. */
must_check int remote_syscall(struct remote *remote, long number, const uint64_t argument[6], int64_t *out_result);

/*
 * Calls a function of the target on its own mapped stack (stack_top, 16-byte aligned, at least 256 KiB below it): only for the dlopen loader, at a proved safe point.
 * Returns through a system-call stop, never through int3.
 */
must_check int remote_call(struct remote *remote, remote_addr function, const uint64_t argument[4], remote_addr stack_top, int deadline_ms, uint64_t *out_result);

#endif
