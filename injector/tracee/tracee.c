/* SPDX-License-Identifier: MIT */
/*
 * tracee.c - ptrace, and the only place that knows what a wait status means.
 *
 * A stopped thread is reported as one of three kinds of stop, all others end the tracee. The rest of the file is a vocabulary over them. It must not
 * swallow a signal that is the target's own, nor leave a thread in a stop that nobody will end. Enter at tracee_stop.
 */
#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fault.h"
#include "held.h"
#include "hold.h"
#include "procfs.h"
#include "tracee_late.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)
#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)

/* Newer than some headers. */
#define GET_RSEQ_CONFIGURATION 0x420f

enum { NAP_NS = 1000 * 1000, DETACH_DEADLINE_MS = 100 };

/* Every request goes through here: the seam where tests make the n-th one fail. */
static int request(int number, const char *name, pid_t tid, uintptr_t address, uintptr_t data)
{
	int error = fault_next(name);

	if (error)
		return error;
	hold_progress();
	return ptrace((enum __ptrace_request)number, tid, address, data) < 0 ? -errno : 0;
}

/* ---- waiting --------------------------------------------------------------------------------------------------------------- */

static int64_t deadline_after(int deadline_ms)
{
	return (int64_t)clock_now_ns() + (int64_t)deadline_ms * 1000000;
}

enum stop {
	STOP_EVENT,   /* PTRACE_EVENT_STOP: ours, or a group-stop */
	STOP_SYSCALL, /* entry or exit of a system call */
	STOP_SIGNAL,  /* about to be delivered: how the thread is resumed decides */
};

/* A thread in its last stop: it must not wait for us there, nor the thread that execs. */
static int let_die(struct tracee *tracee)
{
	fault_pass("let_die");
	ptrace(PTRACE_DETACH, tracee->tid, 0, 0);
	tracee->state = TRACEE_GONE;
	return -ESRCH;
}

static int classify(struct tracee *tracee, int status, enum stop *out_stop, int *out_signal)
{
	int event = status >> 16;

	if (!WIFSTOPPED(status)) {
		tracee->state = TRACEE_GONE;
		return -ESRCH;
	}
	if (event == PTRACE_EVENT_STOP) {
		tracee->group_stopped = WSTOPSIG(status) != SIGTRAP;
		*out_stop = STOP_EVENT;
		return 0;
	}
	if (event != 0)
		return let_die(tracee);
	*out_signal = WSTOPSIG(status);
	*out_stop = *out_signal == SYSCALL_STOP ? STOP_SYSCALL : STOP_SIGNAL;
	return 0;
}

/*
 * Sleeps until SIGCHLD tells of a stop; not for long, as it is not counted on: another thread may take it, or the program ignore it. No busy wait before: where
 * a CPU is idle it would halve the time that the thread stands still, but where none is the thread waits for the very CPU on which we spin, and if we yield it,
 * the rest of the target goes first (medians with 4 threads on 2 CPUs: 0.5 ms asleep, 3 ms spinning, 4 ms with tails of 76 ms yielding).
 */
static void wait_a_little(int64_t left_ns)
{
	struct timespec nap = {.tv_nsec = left_ns < NAP_NS ? left_ns : NAP_NS};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &nap);
}

/* It has not stopped: as long as it runs for itself nobody holds it. */
static void note_running(struct tracee *tracee, int64_t seen_ns)
{
	if (!tracee->is_held)
		tracee->since_ns = seen_ns;
}

static int look_until(struct tracee *tracee, int64_t deadline_ns, int *out_status)
{
	for (;;) {
		const int64_t seen_ns = (int64_t)clock_now_ns();
		pid_t got = waitpid(tracee->tid, out_status, __WALL | WNOHANG);
		int64_t left_ns;

		if (got == tracee->tid) {
			fault_pass("stop");
			return 0;
		}
		if (got < 0 && errno != EINTR) {
			tracee->state = TRACEE_GONE;
			return -ESRCH;
		}
		note_running(tracee, seen_ns);
		left_ns = deadline_ns - (int64_t)clock_now_ns();
		if (left_ns <= 0)
			return -ETIMEDOUT;
		wait_a_little(left_ns);
		hold_progress();
		tracee_late_look();
	}
}

static int next_stop(struct tracee *tracee, int64_t deadline_ns, enum stop *out_stop, int *out_signal)
{
	sigset_t child, before;
	int error, status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	error = look_until(tracee, deadline_ns, &status);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error ? error : classify(tracee, status, out_stop, out_signal);
}

static int resume(struct tracee *tracee, int number, int signal)
{
	int error = request(number, "resume", tracee->tid, 0, (uintptr_t)signal);

	if (!error)
		tracee->state = TRACEE_RUNNING;
	return error;
}

/* The call that the stop broke off, and nothing else did, is made again, whoever lets the thread go, and if it is our death. */
static int repeat_call(const struct tracee *tracee)
{
	struct arch_regs regs = {0};
	int error = tracee_get_regs(tracee, &regs);

	if (error || !arch_rewind_interrupted(&regs))
		return error;
	return tracee_set_regs(tracee, &regs);
}

/* After an INTERRUPT: passes on whatever comes first, and interrupts anew, as any stop takes a pending interrupt with it. -EAGAIN: not there yet. */
static int approach_event_stop(struct tracee *tracee, enum stop stop, int signal)
{
	int error;

	if (stop == STOP_EVENT) {
		tracee->state = TRACEE_STOPPED;
		tracee->is_held = true;
		return repeat_call(tracee);
	}
	if (stop == STOP_SYSCALL)
		signal = 0;
	error = request(PTRACE_INTERRUPT, "interrupt", tracee->tid, 0, 0);
	if (!error)
		error = resume(tracee, PTRACE_CONT, signal);
	return error ? error : -EAGAIN;
}

static int wait_for_event_stop(struct tracee *tracee, int64_t deadline_ns)
{
	int error;

	do {
		enum stop stop;
		int signal = 0;

		error = next_stop(tracee, deadline_ns, &stop, &signal);
		if (!error)
			error = approach_event_stop(tracee, stop, signal);
	} while (error == -EAGAIN);
	return error;
}

/* ---- seizing and letting go ------------------------------------------------------------------------------------------------ */

/* Not a step of ours in the target, so it is not one that tests make fail. */
int tracee_probe(pid_t child, bool *out_may_suspend)
{
	const bool may_suspend = ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_SUSPEND_SECCOMP) == 0;

	if (!may_suspend && ptrace(PTRACE_SEIZE, child, 0, 0) < 0)
		return -errno;
	*out_may_suspend = may_suspend;
	return 0;
}

/* For one on which no call will be made it does not matter what its filters would say; to ask takes as long as all the rest of its stop. */
static int seize(struct tracee *tracee, bool minds_filters)
{
	struct proc_status status = {.seccomp = 0};
	int error = minds_filters ? proc_status_read(tracee->pid, tracee->tid, &status) : 0;

	if (error)
		return error;
	tracee->has_filter = tracee->is_filtered = status.seccomp != 0;
	tracee->minds_filters = minds_filters;
	error = -EPERM;
	if (tracee->is_filtered) {
		/* A call that the filter does not know may kill the target. */
		error = request(PTRACE_SEIZE, "seize", tracee->tid, 0, OPTIONS | PTRACE_O_SUSPEND_SECCOMP);
		tracee->is_filtered = error != 0;
	}
	if (error == -EPERM || error == -EINVAL)
		error = request(PTRACE_SEIZE, "seize", tracee->tid, 0, OPTIONS);
	/* A thread that is exiting is refused, too. */
	if (error == -EPERM && (proc_status_read(tracee->pid, tracee->tid, &status) || status.state == 'Z' || status.state == 'X'))
		error = -ESRCH;
	if (!error)
		tracee->state = TRACEE_RUNNING;
	return error;
}

/* The thread may have ended after it was looked at, and its number become that of a thread of another process, before it was seized. */
static bool is_still_its_own(const struct tracee *tracee)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", tracee->pid, tracee->tid);
	return access(path, F_OK) == 0;
}

static void forget(struct tracee *tracee)
{
	tracee->state = TRACEE_NONE;
	hold_end();
}

/* Before it is let go of, as it may well run before we do again. */
void tracee_note_held(struct tracee *tracee)
{
	if (!tracee->is_held)
		return;
	tracee->is_held = false;
	tracee->held_ns = (int64_t)clock_now_ns() - tracee->since_ns;
	held_add((uint64_t)tracee->held_ns);
}

/* Detaching is undoing, and leaves a thread frozen if it fails: so it is tried twice. */
int tracee_detach_stopped(const struct tracee *tracee)
{
	int error = request(PTRACE_DETACH, "detach", tracee->tid, 0, 0);

	if (error && error != -ESRCH)
		error = request(PTRACE_DETACH, "detach", tracee->tid, 0, 0);
	return error;
}

int tracee_has_stopped(struct tracee *tracee)
{
	enum stop stop;
	int status, signal = 0;
	const int64_t seen_ns = (int64_t)clock_now_ns();
	pid_t got = waitpid(tracee->tid, &status, __WALL | WNOHANG);
	int error;

	if (got == 0) {
		note_running(tracee, seen_ns);
		return -EAGAIN;
	}
	if (got < 0) {
		tracee->state = TRACEE_GONE;
		return -ESRCH;
	}
	fault_pass("stop");
	error = classify(tracee, status, &stop, &signal);
	return error ? error : approach_event_stop(tracee, stop, signal);
}

static int interrupt(struct tracee *tracee, pid_t pid, pid_t tid, bool minds_filters)
{
	int error = 0;

	*tracee = (struct tracee){.pid = pid, .tid = tid};
	hold_begin();
	tracee_late_look();
	if (!tracee_late_take(tid, tracee, minds_filters))
		error = seize(tracee, minds_filters);
	if (error) {
		forget(tracee);
		return error;
	}
	tracee->since_ns = (int64_t)clock_now_ns();
	error = is_still_its_own(tracee) ? request(PTRACE_INTERRUPT, "interrupt", tid, 0, 0) : -ESRCH;
	if (error)
		tracee_detach(tracee);
	return error;
}

int tracee_interrupt(struct tracee *tracee, pid_t pid, pid_t tid)
{
	return interrupt(tracee, pid, tid, true);
}

int tracee_halt(struct tracee *tracee, pid_t pid, pid_t tid)
{
	return interrupt(tracee, pid, tid, false);
}

int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid, int deadline_ms)
{
	int error = tracee_interrupt(tracee, pid, tid);

	if (error)
		return error;
	error = wait_for_event_stop(tracee, deadline_after(deadline_ms));
	if (error)
		tracee_detach(tracee);
	return error;
}

void tracee_pause(int64_t ns)
{
	const int64_t end_ns = (int64_t)clock_now_ns() + ns;
	int64_t left_ns = ns;

	do {
		wait_a_little(left_ns);
		hold_progress();
		tracee_late_look();
		left_ns = end_ns - (int64_t)clock_now_ns();
	} while (left_ns > 0);
}

void tracee_nap(void)
{
	wait_a_little(NAP_NS);
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
	int error = 0;

	if (tracee->state == TRACEE_NONE)
		return 0;
	if (tracee->state == TRACEE_RUNNING)
		error = tracee_steer_to_stop(tracee, DETACH_DEADLINE_MS);
	tracee_note_held(tracee);
	if (tracee->state == TRACEE_RUNNING)
		tracee_late_add(tracee);
	if (tracee->state > TRACEE_RUNNING && tracee->state < TRACEE_GONE)
		error = tracee_detach_stopped(tracee);
	if (error == -ESRCH && tracee->state != TRACEE_GONE) {
		/* Killed in our hands: it waits for us in its exit stop. */
		enum stop stop;
		int signal;

		error = next_stop(tracee, deadline_after(DETACH_DEADLINE_MS), &stop, &signal);
	}
	if (tracee->state == TRACEE_GONE)
		error = 0;
	forget(tracee);
	return error;
}

/* ---- the state of a stopped thread ---------------------------------------------------------------------------------------------- */

int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs)
{
	struct iovec iov = {out_regs, sizeof(*out_regs)};

	return request(PTRACE_GETREGSET, "get_regs", tracee->tid, NT_PRSTATUS, (uintptr_t)&iov);
}

int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs)
{
	struct arch_regs copy = *regs;
	struct iovec iov = {&copy, sizeof(copy)};

	return request(PTRACE_SETREGSET, "set_regs", tracee->tid, NT_PRSTATUS, (uintptr_t)&iov);
}

int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size)
{
	struct iovec iov = {into, *size};
	int error = request(PTRACE_GETREGSET, "get_xstate", tracee->tid, ARCH_NT_XSTATE, (uintptr_t)&iov);

	if (!error)
		*size = iov.iov_len;
	return error;
}

int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size)
{
	struct iovec iov = {(void *)(uintptr_t)from, size};

	return request(PTRACE_SETREGSET, "set_xstate", tracee->tid, ARCH_NT_XSTATE, (uintptr_t)&iov);
}

int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask)
{
	return request(PTRACE_GETSIGMASK, "get_sigmask", tracee->tid, sizeof(*out_mask), (uintptr_t)out_mask);
}

int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask)
{
	return request(PTRACE_SETSIGMASK, "set_sigmask", tracee->tid, sizeof(mask), (uintptr_t)&mask);
}

int tracee_poke(pid_t tid, remote_addr to, uint64_t word)
{
	int error = request(PTRACE_POKEDATA, "poke", tid, to, word);

	return error == -EIO ? -EFAULT : error;
}

int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq)
{
	struct {
		uint64_t address;
		uint32_t size, signature, flags, padding;
	} configuration = {0};
	int error = request(GET_RSEQ_CONFIGURATION, "get_rseq", tracee->tid, sizeof(configuration), (uintptr_t)&configuration);

	if (error && error != -EIO) /* EIO: not in this kernel */
		return error;
	*out_rseq = configuration.address;
	return 0;
}

int tracee_get_filter(const struct tracee *tracee, unsigned index, struct sock_filter into[BPF_MAXINSNS])
{
	memset(into, 0, BPF_MAXINSNS * sizeof(into[0]));
	return request(PTRACE_SECCOMP_GET_FILTER, "get_filter", tracee->tid, index, (uintptr_t)into);
}

/* ---- running ---------------------------------------------------------------------------------------------------------------------- */

int tracee_run_to_syscall(struct tracee *tracee, int deadline_ms)
{
	const int64_t deadline_ns = deadline_after(deadline_ms);
	const enum tracee_state next = tracee->state == TRACEE_SYSCALL_ENTRY ? TRACEE_SYSCALL_EXIT : TRACEE_SYSCALL_ENTRY;
	int signal = 0;

	for (;;) {
		enum stop stop;
		int error = resume(tracee, PTRACE_SYSCALL, signal);

		if (!error)
			error = next_stop(tracee, deadline_ns, &stop, &signal);
		if (error)
			return error;
		if (stop == STOP_SYSCALL) {
			tracee->state = next;
			return 0;
		}
		if (stop == STOP_EVENT) /* SIGSTOP or SIGCONT came: the kernel remembers, and acts on it when we are gone */
			signal = 0;
	}
}

int tracee_steer_to_stop(struct tracee *tracee, int deadline_ms)
{
	int error = 0;

	if (tracee->state == TRACEE_STOPPED)
		return 0;
	/* The interrupt is pending before the thread goes on, so it traps before its next instruction. */
	error = request(PTRACE_INTERRUPT, "interrupt", tracee->tid, 0, 0);
	if (!error && tracee->state != TRACEE_RUNNING)
		error = resume(tracee, PTRACE_CONT, 0);
	if (!error)
		error = wait_for_event_stop(tracee, deadline_after(deadline_ms));
	return error;
}
