/* SPDX-License-Identifier: MIT */
/*
 * tracee.c - operations on one thread, built on the stops of ptrace.h. It must not swallow a signal
 * that is the target's own, nor leave a thread in a stop that nothing ends. Entry point:
 * tracee_stop.
 */
#include "tracee.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "clock.h"
#include "fault.h"
#include "hold.h"
#include "proc_file.h"
#include "procfs.h"
#include "tracee_late.h"

#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)

enum { DETACH_DEADLINE_MS = 100 };

/* ---- waiting --------------------------------------------------------------------------------- */

static int64_t deadline_after(int deadline_ms)
{
	return (int64_t)clock_now_ns() + (int64_t)deadline_ms * 1000000;
}

static int look_until(struct tracee *tracee, int64_t deadline_ns, int *out_status)
{
	for (;;) {
		const int64_t seen_ns = (int64_t)clock_now_ns();
		pid_t got = ptrace_wait(tracee->tid, out_status);
		int64_t left_ns;

		if (got == tracee->tid) {
			fault_pass("stop");
			return 0;
		}
		if (got < 0 && errno != EINTR) {
			tracee->state = TRACEE_GONE;
			return -ESRCH;
		}
		ptrace_note_running(tracee, seen_ns);
		left_ns = deadline_ns - (int64_t)clock_now_ns();
		if (left_ns <= 0)
			return -ETIMEDOUT;
		ptrace_nap(left_ns);
		hold_progress();
		tracee_late_look();
	}
}

static int next_stop(struct tracee *tracee, int64_t deadline_ns, enum ptrace_stop *out_stop,
		     int *out_signal)
{
	sigset_t child, before;
	int err, status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	err = look_until(tracee, deadline_ns, &status);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ? err : ptrace_classify(tracee, status, out_stop, out_signal);
}

static int wait_for_event_stop(struct tracee *tracee, int64_t deadline_ns)
{
	int err;

	do {
		enum ptrace_stop stop;
		int signal = 0;

		err = next_stop(tracee, deadline_ns, &stop, &signal);
		if (!err)
			err = event_stop_approach(tracee, stop, signal);
	} while (err == -EAGAIN);
	return err;
}

/* ---- seizing and letting go ------------------------------------------------------------------ */

/*
 * minds_filters: false for a thread in which no system call will be made: its filters do not
 * matter, and reading whether it has any takes as long as all the rest of its stop.
 */
static int seize(struct tracee *tracee, bool minds_filters)
{
	struct proc_status status = {.seccomp = 0};
	int err = minds_filters ? proc_status_read(tracee->pid, tracee->tid, &status) : 0;

	if (err)
		return err;
	tracee->has_filter = tracee->is_filtered = status.seccomp != 0;
	tracee->minds_filters = minds_filters;
	err = -EPERM;
	if (tracee->is_filtered) {
		/* a call that the filter does not allow may kill the target */
		err = ptrace_request(PTRACE_SEIZE, "seize", tracee->tid, 0,
				     OPTIONS | PTRACE_O_SUSPEND_SECCOMP);
		tracee->is_filtered = err != 0;
	}
	if (err == -EPERM || err == -EINVAL)
		err = ptrace_request(PTRACE_SEIZE, "seize", tracee->tid, 0, OPTIONS);
	/* An exiting thread is refused with EPERM, too. */
	if (err == -EPERM && (proc_status_read(tracee->pid, tracee->tid, &status) ||
			      status.state == 'Z' || status.state == 'X'))
		err = -ESRCH;
	if (!err)
		tracee->state = TRACEE_RUNNING;
	return err;
}

/*
 * The thread may have ended before it was seized, and its number may now be that of a thread of
 * another process.
 */
static bool is_still_its_own(const struct tracee *tracee)
{
	return access(proc_path(tracee->pid, tracee->tid, "").text, F_OK) == 0;
}

static void forget(struct tracee *tracee)
{
	tracee->state = TRACEE_NONE;
	hold_end();
}

static int interrupt(struct tracee *tracee, pid_t pid, pid_t tid, bool minds_filters,
		     const struct tracee_look *look)
{
	struct tracee_look own;
	int err = 0;

	*tracee = (struct tracee){.pid = pid, .tid = tid};
	hold_begin();
	tracee_late_look();
	if (ARCH_STOP_ENDS_CALLS && !look) {
		tracee_look_at(pid, tid, &own);
		look = &own;
	}
	/* A late one still stops before it returns from where it was seen. */
	if (!tracee_late_take(tid, tracee, minds_filters)) {
		err = seize(tracee, minds_filters);
		if (!err)
			event_stop_note_call(tracee, look);
	}
	if (err) {
		forget(tracee);
		return err;
	}
	tracee->since_ns = (int64_t)clock_now_ns();
	err = is_still_its_own(tracee) ? ptrace_request(PTRACE_INTERRUPT, "interrupt", tid, 0, 0)
				       : -ESRCH;
	if (err)
		tracee_detach(tracee);
	return err;
}

int tracee_interrupt(struct tracee *tracee, pid_t pid, pid_t tid)
{
	return interrupt(tracee, pid, tid, true, NULL);
}

int tracee_halt(struct tracee *tracee, pid_t pid, pid_t tid, const struct tracee_look *look)
{
	return interrupt(tracee, pid, tid, false, look);
}

int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms)
{
	int err = tracee_interrupt(tracee, pid, tid);

	if (err)
		return err;
	err = wait_for_event_stop(tracee, deadline_after(deadline_ms));
	if (err)
		tracee_detach(tracee);
	return err;
}

void tracee_pause(int64_t ns)
{
	const int64_t end_ns = (int64_t)clock_now_ns() + ns;
	int64_t left_ns = ns;

	do {
		ptrace_nap(left_ns);
		hold_progress();
		tracee_late_look();
		left_ns = end_ns - (int64_t)clock_now_ns();
	} while (left_ns > 0);
}

void tracee_nap(void)
{
	ptrace_nap(PTRACE_NAP_NS);
	tracee_late_look();
}

void tracee_abandon(struct tracee *tracee)
{
	if (tracee->state == TRACEE_RUNNING)
		tracee_late_add(tracee);
	if (tracee->state != TRACEE_NONE)
		forget(tracee);
}

int tracee_detach(struct tracee *tracee)
{
	int err = 0;

	if (tracee->state == TRACEE_NONE)
		return 0;
	if (tracee->state == TRACEE_RUNNING)
		err = tracee_steer_to_stop(tracee, DETACH_DEADLINE_MS);
	tracee_note_held(tracee);
	if (tracee->state == TRACEE_RUNNING)
		tracee_late_add(tracee);
	if (tracee->state > TRACEE_RUNNING && tracee->state < TRACEE_GONE)
		err = tracee_detach_stopped(tracee);
	if (err == -ESRCH && tracee->state != TRACEE_GONE) {
		/* Killed while we held it: it waits for us in its exit stop. */
		enum ptrace_stop stop;
		int signal;

		err = next_stop(tracee, deadline_after(DETACH_DEADLINE_MS), &stop, &signal);
	}
	if (tracee->state == TRACEE_GONE)
		err = 0;
	forget(tracee);
	return err;
}

void tracee_hand_over(struct tracee *tracee)
{
	tracee_note_held(tracee);
	forget(tracee);
}

/* ---- running --------------------------------------------------------------------------------- */

int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms)
{
	const int64_t deadline_ns = deadline_after(deadline_ms);
	const enum tracee_state next =
		tracee->state == TRACEE_SYSCALL_ENTRY ? TRACEE_SYSCALL_EXIT : TRACEE_SYSCALL_ENTRY;
	int signal = 0;

	for (;;) {
		enum ptrace_stop stop;
		int err = ptrace_resume(tracee, PTRACE_SYSCALL, signal);

		if (!err)
			err = next_stop(tracee, deadline_ns, &stop, &signal);
		if (err)
			return err;
		if (stop == STOP_SYSCALL) {
			tracee->state = next;
			return 0;
		}
		/*
		 * SIGSTOP or SIGCONT came: the kernel remembers it, and acts on it after we detach
		 */
		if (stop == STOP_EVENT)
			signal = 0;
	}
}

int tracee_run_to_restart(struct tracee *tracee, int deadline_ms)
{
	const int64_t deadline_ns = deadline_after(deadline_ms);
	enum ptrace_stop stop;
	int signal = 0, err = ptrace_resume(tracee, PTRACE_SYSCALL, 0);

	if (!err)
		err = next_stop(tracee, deadline_ns, &stop, &signal);
	if (err)
		return err;
	if (stop == STOP_SYSCALL) {
		tracee->state = TRACEE_SYSCALL_ENTRY;
		return 0;
	}
	err = event_stop_approach(tracee, stop, signal);
	if (err == -EAGAIN)
		err = wait_for_event_stop(tracee, deadline_ns);
	return err ? err : -EAGAIN;
}

int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms)
{
	int err = 0;

	if (tracee->state == TRACEE_STOPPED)
		return 0;
	/*
	 * The interrupt is pending before the thread goes on, so it traps before its next
	 * instruction.
	 */
	err = ptrace_request(PTRACE_INTERRUPT, "interrupt", tracee->tid, 0, 0);
	if (!err && tracee->state != TRACEE_RUNNING)
		err = ptrace_resume(tracee, PTRACE_CONT, 0);
	if (!err)
		err = wait_for_event_stop(tracee, deadline_after(deadline_ms));
	return err;
}
