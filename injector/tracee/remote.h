/* SPDX-License-Identifier: MIT */
/*
 * remote.h - one borrowed thread of the target: makes system calls in it, and restores it exactly.
 *
 * Between remote_open and remote_close the thread is stopped. Its registers, extended state and
 * signal mask are saved, and all signals are blocked. A guard frame (a complete rt_sigframe of the
 * original context) lies below its red zone: if the injector dies at any instant, the thread
 * returns into rt_sigreturn and goes on by itself. System calls run from a `syscall; ret` that
 * exists in the target. No text is written, and no code of the target's libraries runs, except by
 * remote_call.
 *
 * All calls must come from one thread (see tracee.h). Fault injection: every remote operation asks
 * fault_next() first; in builds with -DHI_FAULTS the n-th one fails (or kills the injector), see
 * fault.h. Whatever fails, remote_close leaves the thread as it was.
 */
#ifndef HI_REMOTE_H
#define HI_REMOTE_H

#include <signal.h>

#include "procfs.h"
#include "tracee.h"

/*
 * Code of the target that the borrowed thread executes: found once per session, re-verified in live
 * memory at each remote_open.
 */
struct remote_gadgets {
	remote_addr syscall_ret; /* the system-call instruction, followed by a return */
	struct arch_sigreturn sigreturn;
};
/*
 * Scans executable mappings: libc first, then the vdso, then the rest. -ENOLINK: a gadget does not
 * exist. All programs that handle signals have code that makes rt_sigreturn; without it, the
 * system-call instruction serves, and code that loads the number of the call.
 */
must_check int remote_gadgets_find(const struct maps *maps, const struct memory *memory,
				   struct remote_gadgets *out_gadgets);

/* Not to be copied: it points into itself. */
struct remote {
	struct tracee tracee;
	const struct memory *memory;
	struct remote_gadgets gadgets;
	/* the thread's context; a restartable sequence has been left as the kernel would */
	struct arch_context original;
	struct arch_regs resting; /* what each remote call starts from */
	/* a few hundred bytes of dead stack below the guard frame, for arguments */
	remote_addr scratch;
	size_t scratch_size;
	remote_addr frame; /* address of the guard frame */
	size_t frame_size;
	remote_addr way_back; /* see remote_return_through; 0 = none */
	bool is_guarded;
	uint64_t patient_until_ns; /* until then no transfer of a thread is broken off (borrow.h) */
	uint64_t stopped_ns;       /* how long the thread has been held, set by remote_close */
	uint8_t frame_head[ARCH_GUARD_HEAD];
	_Alignas(64) uint8_t xstate[ARCH_XSTATE_MAX];
};

/*
 * Chooses a thread by looking at /proc (never one in state D, never one on a stack that is not its
 * own), stops it, and writes the guard frame. Tries several threads within deadline_ms. -EAGAIN: no
 * thread could be borrowed now. -ESRCH: the target is gone. -ENOTSUP: shadow stack, or not 64-bit
 * code. -EACCES: a seccomp filter that we may not suspend.
 */
must_check int remote_open(struct remote *remote, pid_t pid, const struct memory *memory,
			   const struct remote_gadgets *gadgets, int deadline_ms);
/*
 * The same with a thread that is already TRACEE_STOPPED (the dlopen loader chose it). On success
 * `remote` takes over the tracee; on failure it remains the caller's, unchanged.
 */
must_check int remote_adopt(struct remote *remote, struct tracee *tracee,
			    const struct memory *memory, const struct remote_gadgets *gadgets);
/*
 * Restores the thread exactly and lets it go. Idempotent, works half-open. Does all it can, then
 * returns the first error.
 */
int remote_close(struct remote *remote);
/*
 * Restores it exactly, and leaves it stopped and traced by the calling thread, which resumes it. On
 * failure it was let go.
 */
must_check int remote_hand_over(struct remote *remote);

/*
 * Makes one system call. out_result: its return value, which may be a negative errno of the
 * target's kernel. The returned error concerns only the way the call was made.
 */
must_check int remote_syscall(struct remote *remote, long number, const uint64_t argument[6],
			      int64_t *out_result);
/*
 * The same, where an error of the system call is a failure of ours: returns its negative errno,
 * too. out_result may be NULL.
 */
must_check int remote_syscall_or_fail(struct remote *remote, long number,
				      const uint64_t argument[6], uint64_t *out_result);

/*
 * From now on the thread runs this code of the target before it returns to what it was doing, also
 * if the injector dies. The code may use the registers that a system call changes, and returns. 0:
 * no code any more; to be set before the code is unmapped.
 */
must_check int remote_return_through(struct remote *remote, remote_addr code);

/*
 * Calls a function on a mapped stack of its own (stack_top, 16-byte aligned; below it what the
 * function needs, and 512 bytes). A function of the target's libraries may be called only at a
 * proved safe point, as the dlopen loader does, with 256 KiB; a function of the payload at any
 * point. It returns through a system-call stop, never through a breakpoint.
 *
 * out_result: only for functions that return an address, NULL for all others. If the injector dies
 * meanwhile, the function runs to its end and the thread then restores itself from a second guard
 * frame at stack_top. But if a result was requested, the thread first makes the system call whose
 * number is the result: an address gives -ENOSYS, but 0 is a read, which may wait for ever or
 * consume data. -ETIMEDOUT: the thread was let go to finish in the same way: the stack must stay
 * mapped, and the function may yet take effect. `remote` is closed then.
 */
must_check int remote_call(struct remote *remote, remote_addr function, const uint64_t argument[4],
			   remote_addr stack_top, int deadline_ms, uint64_t *out_result);

/*
 * Is the thread still busy with a call that it was to make for us? It makes the call when it gets a
 * CPU, and then returns through the guard frame. Until then it has our signal mask, with all
 * signals blocked, also those that libc lets no program block.
 */
static inline bool remote_is_on_its_way_back(const struct proc_status *thread)
{
	const uint64_t unblockable = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);

	return (thread->sig_blocked | unblockable) == UINT64_MAX;
}

#endif
