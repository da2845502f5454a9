/* SPDX-License-Identifier: MIT */
/*
 * event_stop.c - see event_stop.h.
 */
#include "event_stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "clock.h"
#include "fault.h"
#include "held.h"
#include "procfs.h"

#define SECCOMP_STOP (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)

/* How long a woken thread may take to wait again, and how much of that it may run. */
#define WAITS_AGAIN_NS 5000000
#define WAITS_AGAIN_RUN_NS 1000000u
#define WAITS_AGAIN_NAP_NS 100000

/* ---- before it: the call that the thread waits in -------------------------------------------- */

/*
 * The call that the thread waits in, for CPUs that do not show it after a stop. The first look
 * waits until the thread is off its CPU, so that this is counted; the second finds it in the same
 * call after the count.
 */
static struct arch_call find_call(pid_t pid, pid_t tid)
{
	struct proc_status status;
	struct proc_syscall first, call;

	if (!ARCH_STOP_ENDS_CALLS || proc_syscall_read(pid, tid, &first) || first.running ||
	    proc_status_read(pid, tid, &status) || proc_syscall_read(pid, tid, &call) ||
	    call.running)
		return (struct arch_call){.is_known = false};
	return (struct arch_call){.is_known = true,
				  .number = call.number,
				  .first_argument = call.argument[0],
				  .sp = call.sp,
				  .pc = call.pc,
				  .waits = status.waits};
}

/* The call comes last: while it has no more turns than these it is still in it. */
uint64_t tracee_look_at(pid_t pid, pid_t tid, struct tracee_look *out_look)
{
	out_look->turns = proc_turns(pid, tid);
	out_look->call = find_call(pid, tid);
	return out_look->turns;
}

/*
 * The thread was woken from the call that it waited in, has been given a CPU since, and begins
 * another call soon, mostly. A stop that came just then would end that one, and nothing would show
 * which it is.
 */
static void await_next_call(struct tracee *tracee)
{
	const int64_t until_ns = (int64_t)clock_now_ns() + WAITS_AGAIN_NS;
	const uint64_t ran_ns = proc_run_ns(tracee->pid, tracee->tid);

	while (!tracee->before.is_known && (int64_t)clock_now_ns() < until_ns &&
	       proc_run_ns(tracee->pid, tracee->tid) - ran_ns < WAITS_AGAIN_RUN_NS) {
		ptrace_nap(WAITS_AGAIN_NAP_NS);
		tracee->before = find_call(tracee->pid, tracee->tid);
	}
}

/*
 * A thread that does not wait, and was given no CPU since the look, was woken from the call that it
 * waited in then, and has not returned from it.
 */
void event_stop_note_call(struct tracee *tracee, const struct tracee_look *look)
{
	tracee->before = find_call(tracee->pid, tracee->tid);
	if (!tracee->before.is_known && look && look->call.is_known) {
		if (look->turns && proc_turns(tracee->pid, tracee->tid) == look->turns)
			tracee->before = look->call;
		else
			await_next_call(tracee);
	}
	tracee->is_followed = tracee->before.is_known;
}

/* ---- what becomes of the call ---------------------------------------------------------------- */

/*
 * The first argument of the thread's last call, also if the result has taken its place. The kernel
 * tells it of a thread that has stopped for a seccomp filter (Linux 5.3, ptrace_get_syscall_info),
 * and knows such a stop by its siginfo: so this stop has that of one meanwhile. Nothing that the
 * thread does depends on that. After a handler the last call is rt_sigreturn.
 */
static int get_first_argument(const struct tracee *tracee, uint64_t *out_argument)
{
	struct __ptrace_syscall_info call = {0};
	siginfo_t own, seccomp;
	int err = ptrace_request(PTRACE_GETSIGINFO, "get_siginfo", tracee->tid, 0, (uintptr_t)&own);

	if (err)
		return err;
	seccomp = own;
	seccomp.si_code = SECCOMP_STOP;
	err = ptrace_request(PTRACE_SETSIGINFO, "set_siginfo", tracee->tid, 0, (uintptr_t)&seccomp);
	if (err)
		return err;
	err = ptrace_request(PTRACE_GET_SYSCALL_INFO, "get_call", tracee->tid, sizeof(call),
			     (uintptr_t)&call);
	if (!err && call.op != PTRACE_SYSCALL_INFO_SECCOMP)
		err = -ENOSYS;
	*out_argument = call.seccomp.args[0];
	const int restored =
		ptrace_request(PTRACE_SETSIGINFO, "set_siginfo", tracee->tid, 0, (uintptr_t)&own);
	return err ? err : restored;
}

/* Will the thread run a signal handler when it goes on? That ends the call. */
static bool is_for_handler(const struct proc_status *status)
{
	return (status->sig_pending | status->sig_shared_pending) & ~status->sig_blocked &
	       status->sig_caught;
}

/*
 * Has the stop alone broken off the call that it is in, at the place where it was seen to wait
 * before? If it has waited since then, it has made that call once more, with other arguments maybe;
 * and if a signal has reached it, a handler may have run, and ended a call.
 *
 * A handler that was running before does not matter: it returns to another place, with more of the
 * stack.
 */
static bool is_broken_by_stop(struct tracee *tracee)
{
	struct proc_status status;

	if (proc_status_read(tracee->pid, tracee->tid, &status) || is_for_handler(&status))
		return false;
	if (status.waits - tracee->before.waits <= 1)
		return true;
	if (!tracee->is_followed || get_first_argument(tracee, &tracee->before.first_argument))
		return false;
	tracee->before.waits = status.waits;
	return true;
}

static bool rewind_call(struct tracee *tracee, struct arch_regs *regs)
{
	struct arch_regs rewound = *regs;

	if (!arch_rewind_interrupted(&rewound, &tracee->before) ||
	    (ARCH_STOP_ENDS_CALLS && !is_broken_by_stop(tracee)))
		return false;
	return arch_rewind_interrupted(regs, &tracee->before);
}

/*
 * Makes the thread repeat a system call that only the stop broke off, no matter what lets the
 * thread go, even our death.
 */
static int repeat_call(struct tracee *tracee)
{
	struct arch_regs regs = {0};
	int err = tracee_get_regs(tracee, &regs);

	if (err || !rewind_call(tracee, &regs))
		return err;
	tracee->is_rewound = true;
	return tracee_set_regs(tracee, &regs);
}

/* A signal to a process that has more threads may be taken by another. */
bool tracee_end_rewound(const struct tracee *tracee, uint64_t mask, struct arch_regs *regs)
{
	struct proc_status status;

	if (!ARCH_STOP_ENDS_CALLS || proc_status_read(tracee->pid, tracee->tid, &status))
		return false;
	const uint64_t coming =
		status.sig_pending | (status.threads == 1 ? status.sig_shared_pending : 0);

	return coming & status.sig_caught & ~mask && arch_end_rewound(regs, &tracee->before);
}

static void end_rewound(const struct tracee *tracee)
{
	struct arch_regs regs;
	uint64_t mask;

	if (ARCH_STOP_ENDS_CALLS && tracee->is_rewound && !tracee_get_regs(tracee, &regs) &&
	    !tracee_get_sigmask(tracee, &mask) && tracee_end_rewound(tracee, mask, &regs))
		(void)!tracee_set_regs(tracee, &regs);
}

/* ---- into it, and out of it -------------------------------------------------------------------
 */

int event_stop_approach(struct tracee *tracee, enum ptrace_stop stop, int signal)
{
	int err;

	if (stop == STOP_EVENT) {
		tracee->state = TRACEE_STOPPED;
		tracee->is_held = true;
		err = repeat_call(tracee);
		tracee->is_followed = false;
		return err;
	}
	if (stop == STOP_SYSCALL)
		signal = 0;
	err = ptrace_request(PTRACE_INTERRUPT, "interrupt", tracee->tid, 0, 0);
	if (!err)
		err = ptrace_resume(tracee, PTRACE_CONT, signal);
	return err ? err : -EAGAIN;
}

int tracee_has_stopped(struct tracee *tracee)
{
	enum ptrace_stop stop;
	int status, signal = 0;
	const int64_t seen_ns = (int64_t)clock_now_ns();
	pid_t got = ptrace_wait(tracee->tid, &status);
	int err;

	if (got == 0) {
		ptrace_note_running(tracee, seen_ns);
		return -EAGAIN;
	}
	if (got < 0) {
		tracee->state = TRACEE_GONE;
		return -ESRCH;
	}
	fault_pass("stop");
	err = ptrace_classify(tracee, status, &stop, &signal);
	return err ? err : event_stop_approach(tracee, stop, signal);
}

void tracee_note_held(struct tracee *tracee)
{
	if (!tracee->is_held)
		return;
	tracee->is_held = false;
	tracee->held_ns = (int64_t)clock_now_ns() - tracee->since_ns;
	held_add((uint64_t)tracee->held_ns);
}

/* If detaching fails the thread stays frozen: so it is tried twice. */
int tracee_detach_stopped(const struct tracee *tracee)
{
	int err;

	end_rewound(tracee);
	err = ptrace_request(PTRACE_DETACH, "detach", tracee->tid, 0, 0);
	if (err && err != -ESRCH)
		err = ptrace_request(PTRACE_DETACH, "detach", tracee->tid, 0, 0);
	return err;
}
