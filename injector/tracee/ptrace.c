/* SPDX-License-Identifier: MIT */
/*
 * ptrace.c - see ptrace.h.
 */
#include "ptrace.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "fault.h"
#include "hold.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)

/* Newer than some headers. */
#define GET_RSEQ_CONFIGURATION 0x420f

int ptrace_request(int number, const char *name, pid_t tid, uintptr_t address, uintptr_t data)
{
	int err = fault_next(name);

	if (err)
		return err;
	hold_progress();
	return ptrace((enum __ptrace_request)number, tid, address, data) < 0 ? -errno : 0;
}

/* This is not a step in the target, so fault injection does not make it fail. */
int tracee_probe(pid_t child, bool *out_may_suspend)
{
	const bool may_suspend = ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_SUSPEND_SECCOMP) == 0;

	if (!may_suspend && ptrace(PTRACE_SEIZE, child, 0, 0) < 0)
		return -errno;
	*out_may_suspend = may_suspend;
	return 0;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static pid_t kept;

void ptrace_keep_status(pid_t child)
{
	kept = child;
}

/*
 * Looks first, and collects only a stop. The look asks for exits, and is answered with stops, too:
 * those of a tracee are reported whatever was asked for.
 */
pid_t ptrace_wait(pid_t tid, int *out_status)
{
	siginfo_t change = {0};

	if (tid != kept)
		return waitpid(tid, out_status, __WALL | WNOHANG);
	if (waitid(P_PID, (id_t)tid, &change, WEXITED | WNOWAIT | WNOHANG | __WALL))
		return -1;
	if (!change.si_pid)
		return 0;
	if (change.si_code == CLD_EXITED || change.si_code == CLD_KILLED ||
	    change.si_code == CLD_DUMPED) {
		*out_status = W_EXITCODE(0, SIGKILL);
		return tid;
	}
	if (waitid(P_PID, (id_t)tid, &change, WSTOPPED | WNOHANG | __WALL))
		return -1;
	if (change.si_pid)
		*out_status = W_STOPCODE(change.si_status);
	return change.si_pid;
}

pid_t ptrace_wait_any(int *out_status)
{
	siginfo_t change = {0};

	if (waitid(P_ALL, 0, &change,
		   WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL | __WNOTHREAD))
		return -1;
	return change.si_pid ? ptrace_wait(change.si_pid, out_status) : 0;
}

/* ---- stops ----------------------------------------------------------------------------------- */

/* Detaches a thread in its last stop: neither it nor a thread that execs may wait for us there. */
static int let_die(struct tracee *tracee)
{
	fault_pass("let_die");
	ptrace(PTRACE_DETACH, tracee->tid, 0, 0);
	tracee->state = TRACEE_GONE;
	return -ESRCH;
}

int ptrace_classify(struct tracee *tracee, int status, enum ptrace_stop *out_stop, int *out_signal)
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
	tracee->is_followed = false;
	return 0;
}

void ptrace_note_running(struct tracee *tracee, int64_t seen_ns)
{
	if (!tracee->is_held)
		tracee->since_ns = seen_ns;
}

/*
 * Sleeps until SIGCHLD reports a stop. Not for long, as the signal is not relied on: another thread
 * may take it, or the program may ignore it. There is no busy wait before: where a CPU is idle it
 * would halve the time that the thread is stopped. But where none is idle, the thread waits for the
 * very CPU on which we spin, and if we yield it, the rest of the target runs first (medians with 4
 * threads on 2 CPUs: 0.5 ms asleep, 3 ms spinning, 4 ms with tails of 76 ms yielding).
 */
void ptrace_nap(int64_t left_ns)
{
	struct timespec nap = {.tv_nsec = left_ns < PTRACE_NAP_NS ? left_ns : PTRACE_NAP_NS};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &nap);
}

int ptrace_resume(struct tracee *tracee, int number, int signal)
{
	int err = ptrace_request(number, "resume", tracee->tid, 0, (uintptr_t)signal);

	if (!err)
		tracee->state = TRACEE_RUNNING;
	return err;
}

/* ---- the state of a stopped thread ----------------------------------------------------------- */

int tracee_get_regs(const struct tracee *tracee, struct arch_regs *out_regs)
{
	size_t count;
	const struct arch_register_set *set = arch_register_sets(&count);
	int err = 0;

	*out_regs = (struct arch_regs){0}; /* a set of another program may be shorter */
	for (size_t i = 0; i < count && !err; i++) {
		struct iovec iov = {(uint8_t *)out_regs + set[i].offset, set[i].size};

		err = ptrace_request(PTRACE_GETREGSET, "get_regs", tracee->tid,
				     (uintptr_t)set[i].type, (uintptr_t)&iov);
	}
	return err;
}

int tracee_set_regs(const struct tracee *tracee, const struct arch_regs *regs)
{
	struct arch_regs copy = *regs;
	size_t count;
	const struct arch_register_set *set = arch_register_sets(&count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct iovec iov = {(uint8_t *)&copy + set[i].offset, set[i].size};

		if (!set[i].is_read_only)
			err = ptrace_request(PTRACE_SETREGSET, "set_regs", tracee->tid,
					     (uintptr_t)set[i].type, (uintptr_t)&iov);
	}
	return err;
}

/* The regset of extended state that the kernel has, once it has been read; else 0. */
static int xstate_type;

/* A kernel or a CPU without such state has no such regset. */
static bool has_unsaved(const struct tracee *tracee)
{
	for (const int *type = arch_unsaved_types; *type; type++) {
		uint8_t head[ARCH_UNSAVED_HEAD] = {0};
		struct iovec iov = {head, sizeof(head)};

		if (!ptrace_request(PTRACE_GETREGSET, "get_unsaved", tracee->tid, (uintptr_t)*type,
				    (uintptr_t)&iov) &&
		    arch_has_unsaved(*type, head))
			return true;
	}
	return false;
}

int tracee_get_xstate(const struct tracee *tracee, void *into, size_t *size)
{
	const int known = __atomic_load_n(&xstate_type, __ATOMIC_RELAXED);
	const int only[] = {known, 0}, *type = known ? only : arch_xstate_types;
	int err = -EINVAL;

	if (has_unsaved(tracee))
		return -EAGAIN;
	for (; *type && err == -EINVAL; type++) {
		struct iovec iov = {into, *size};

		err = ptrace_request(PTRACE_GETREGSET, "get_xstate", tracee->tid, (uintptr_t)*type,
				     (uintptr_t)&iov);
		if (err)
			continue;
		*size = arch_xstate_size(into, iov.iov_len);
		__atomic_store_n(&xstate_type, *type, __ATOMIC_RELAXED);
		break;
	}
	return err;
}

int tracee_set_xstate(const struct tracee *tracee, const void *from, size_t size)
{
	const int known = __atomic_load_n(&xstate_type, __ATOMIC_RELAXED);
	const struct arch_xstate_part part =
		arch_xstate_to_set(known ? known : arch_xstate_types[0], from, size);
	struct iovec iov = {(uint8_t *)(uintptr_t)from + part.offset, part.size};

	return ptrace_request(PTRACE_SETREGSET, "set_xstate", tracee->tid, (uintptr_t)part.type,
			      (uintptr_t)&iov);
}

int tracee_get_sigmask(const struct tracee *tracee, uint64_t *out_mask)
{
	return ptrace_request(PTRACE_GETSIGMASK, "get_sigmask", tracee->tid, sizeof(*out_mask),
			      (uintptr_t)out_mask);
}

int tracee_set_sigmask(const struct tracee *tracee, uint64_t mask)
{
	return ptrace_request(PTRACE_SETSIGMASK, "set_sigmask", tracee->tid, sizeof(mask),
			      (uintptr_t)&mask);
}

int tracee_poke(pid_t tid, remote_addr to, uint64_t word)
{
	int err = ptrace_request(PTRACE_POKEDATA, "poke", tid, to, word);

	return err == -EIO ? -EFAULT : err;
}

int tracee_get_rseq(const struct tracee *tracee, remote_addr *out_rseq)
{
	struct {
		uint64_t address;
		uint32_t size, signature, flags, padding;
	} configuration = {0};
	int err = ptrace_request(GET_RSEQ_CONFIGURATION, "get_rseq", tracee->tid,
				 sizeof(configuration), (uintptr_t)&configuration);

	if (err && err != -EIO) /* EIO: not in this kernel */
		return err;
	*out_rseq = configuration.address;
	return 0;
}

int tracee_get_filter(const struct tracee *tracee, unsigned index,
		      struct sock_filter into[BPF_MAXINSNS])
{
	memset(into, 0, BPF_MAXINSNS * sizeof(into[0]));
	return ptrace_request(PTRACE_SECCOMP_GET_FILTER, "get_filter", tracee->tid, index,
			      (uintptr_t)into);
}
