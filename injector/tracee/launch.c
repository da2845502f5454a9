/* SPDX-License-Identifier: MIT */
/*
 * launch.c - see launch.h. In order: a child that waits for a word of ours, seized; the word, and
 * its exec; the place where it is to stop; and a SIGSTOP that it takes there.
 *
 * All signals that come meanwhile are passed on. None can run a handler of the program's, which has
 * set none yet.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "elf_images.h"
#include "exit_watch.h"
#include "fault.h"
#include "link_map.h"
#include "proc_file.h"
#include "ptrace.h"
#include "remote.h"

#define OPTIONS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* a C library needs one or two; others would be traced for all their life */
#define CALLS_MAX 100u
#define LET_GO_DEADLINE_MS 5000
#define LINKER_FUNCTION "_dl_debug_state"

/* At the first instruction of the function for debuggers, and the word that begins with it. */
struct breakpoint {
	remote_addr at;
	size_t size; /* of the instruction */
	uint64_t original, changed;
};

struct child {
	struct tracee tracee;
	struct launch *launch;
	struct memory memory;
	int channel; /* a byte to it: exec; from it: the error of exec */
};

static int fail(struct launch *launch, enum launch_failure failure, int err)
{
	launch->failure = failure;
	return err;
}

/* ---- fork and exec --------------------------------------------------------------------------- */

static _Noreturn void be_child(const struct launch *launch, int channel)
{
	char go;

	/* until launch_let_go(); if the parent has died before, it reads the end of the file */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || read(channel, &go, 1) != 1)
		_exit(1);
	if (launch->prepare)
		launch->prepare();
	execvp(launch->argv[0], launch->argv);
	const int err = errno;
	(void)!write(channel, &err, sizeof(err));
	_exit(1);
}

static int start(struct child *child)
{
	int ends[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	const pid_t pid = fork();
	if (pid < 0)
		err = -errno;
	if (pid == 0) {
		close(ends[0]);
		be_child(child->launch, ends[1]);
	}
	close(ends[1]);
	if (err)
		close(ends[0]);
	child->channel = err ? -1 : ends[0];
	child->tracee = (struct tracee){.pid = pid, .tid = pid, .state = TRACEE_RUNNING};
	return err;
}

/* Waits for its next stop. -ECHILD: it has ended. */
static int wait_stop(struct child *child, int *out_status)
{
	pid_t got;

	while ((got = waitpid(child->tracee.pid, out_status, __WALL)) < 0 && errno == EINTR)
		;
	if (got == child->tracee.pid && WIFSTOPPED(*out_status)) {
		child->tracee.state = TRACEE_STOPPED;
		return 0;
	}
	child->tracee.state = TRACEE_GONE;
	child->launch->status = got < 0 ? 0 : *out_status;
	return fail(child->launch, LAUNCH_ENDED, -ECHILD);
}

/* The signal of a stop that is to be passed on; 0 = the stop is none of a signal. */
static int signal_of(int status)
{
	return status >> 16 || WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
}

static int go_on(struct child *child, int request, int signal)
{
	const int err = ptrace_resume(&child->tracee, request, signal);

	/* killed while it was stopped: it is collected by the next wait */
	return err == -ESRCH ? 0 : err;
}

static int execute(struct child *child)
{
	int status, err, exec_error;

	err = ptrace_request(PTRACE_SEIZE, "seize", child->tracee.pid, 0, OPTIONS);
	if (err)
		return fail(child->launch, LAUNCH_NO_TRACE, err);
	if (write(child->channel, "", 1) != 1)
		return fail(child->launch, LAUNCH_NO_CHILD, -errno);
	while (!(err = wait_stop(child, &status)) && status >> 16 != PTRACE_EVENT_EXEC) {
		err = go_on(child, PTRACE_CONT, signal_of(status));
		if (err)
			return fail(child->launch, LAUNCH_NO_TRACE, err);
	}
	if (err && recv(child->channel, &exec_error, sizeof(exec_error), MSG_DONTWAIT) ==
			   (ssize_t)sizeof(exec_error))
		return fail(child->launch, LAUNCH_NO_EXEC, -exec_error);
	return err;
}

/*
 * Does the program's file give rights that its caller has not? The kernel does not give them to a
 * traced program, which would then fail at what it is for.
 */
static bool has_lost_rights(pid_t pid)
{
	const struct proc_path path = proc_path(pid, pid, "exe");
	struct stat file;

	if (geteuid() == 0 || stat(path.text, &file))
		return false;
	return ((file.st_mode & S_ISUID) && file.st_uid != geteuid()) ||
	       ((file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		file.st_gid != getegid()) ||
	       getxattr(path.text, "security.capability", NULL, 0) > 0;
}

/* ---- where it is to stop --------------------------------------------------------------------- */

static int read_images(const struct child *child, struct elf_images *out_images)
{
	const pid_t pid = child->tracee.pid;
	struct maps maps;
	int err = maps_read(pid, pid, &maps);

	if (err)
		return err;
	err = elf_images_read(pid, &maps, &child->memory, out_images);
	maps_close(&maps);
	return err;
}

/* Is this the call that follows the relocation of all objects? */
static bool is_relocated(const struct child *child)
{
	struct elf_images images;
	uint64_t fingerprint;

	if (read_images(child, &images))
		return false;
	const bool is_done = images.r_debug && !link_map_fingerprint(&child->memory, images.r_debug,
								     NULL, &fingerprint);
	elf_images_close(&images);
	return is_done;
}

/* The child is at the breakpoint: moves it back, and in front of the function. */
static int take_out(struct child *child, const struct breakpoint *breakpoint)
{
	struct arch_regs regs;
	int err = tracee_get_regs(&child->tracee, &regs);

	if (!err)
		err = tracee_poke(child->tracee.tid, breakpoint->at, breakpoint->original);
	if (!err) {
		arch_set_pc(&regs, breakpoint->at);
		err = tracee_set_regs(&child->tracee, &regs);
	}
	return err;
}

static bool is_at(const struct child *child, const struct breakpoint *breakpoint, int status)
{
	struct arch_regs regs;

	return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP &&
	       !tracee_get_regs(&child->tracee, &regs) &&
	       arch_pc(&regs) - breakpoint->at <= breakpoint->size;
}

/* Runs the child up to the breakpoint, and takes that out. */
static int run_to(struct child *child, const struct breakpoint *breakpoint)
{
	int status = 0, err = tracee_poke(child->tracee.tid, breakpoint->at, breakpoint->changed);

	for (int signal = 0; !err; signal = signal_of(status)) {
		err = go_on(child, PTRACE_CONT, signal);
		if (!err)
			err = wait_stop(child, &status);
		if (!err && is_at(child, breakpoint, status))
			return take_out(child, breakpoint);
	}
	return err;
}

/* One instruction further, out of the way of the breakpoint. */
static int step(struct child *child)
{
	int status, err, signal = 0;

	do {
		err = go_on(child, PTRACE_SINGLESTEP, signal);
		if (!err)
			err = wait_stop(child, &status);
		signal = err ? 0 : signal_of(status);
	} while (!err && signal != SIGTRAP);
	return err;
}

static int make_breakpoint(const struct child *child, remote_addr at, struct breakpoint *out)
{
	struct arch_instruction first;
	uint8_t code[sizeof(out->original)];
	int err = memory_read(&child->memory, at, code, sizeof(code));

	if (err)
		return err;
	if (!arch_decode(code, sizeof(code), at, &first))
		return -ENOTSUP;
	*out = (struct breakpoint){.at = at, .size = first.size};
	memcpy(&out->original, code, sizeof(code));
	arch_fill(code, first.size);
	memcpy(&out->changed, code, sizeof(code));
	return 0;
}

static int run_to_relocated(struct child *child, remote_addr function)
{
	struct breakpoint breakpoint = {0};
	int err = make_breakpoint(child, function, &breakpoint);

	if (!err)
		err = run_to(child, &breakpoint);
	while (!err && !is_relocated(child)) {
		err = step(child);
		if (!err)
			err = run_to(child, &breakpoint);
	}
	return err;
}

/* For a static program. Its C library sets the thread pointer by a system call. */
static int run_to_thread(struct child *child)
{
	struct arch_regs regs;
	int status, err = 0, signal = 0;

	for (unsigned calls = 0; calls < CALLS_MAX && !err;) {
		err = tracee_get_regs(&child->tracee, &regs);
		if (err || arch_thread_pointer(&regs))
			return err;
		err = go_on(child, PTRACE_SYSCALL, signal);
		if (!err)
			err = wait_stop(child, &status);
		signal = err ? 0 : signal_of(status);
		calls += !err && WSTOPSIG(status) == SYSCALL_STOP;
	}
	return err ? err : fail(child->launch, LAUNCH_NO_THREAD, -ENOTSUP);
}

/*
 * The function for debuggers is in the dynamic linker, or in the program if that is one (`ld.so
 * PROGRAM`).
 */
static int find_place(const struct child *child, remote_addr *out_function, bool *out_has_linker)
{
	struct elf_images images;
	const int err = read_images(child, &images);

	if (err)
		return err;
	*out_function = 0;
	*out_has_linker = false;
	for (size_t i = 0; i < images.count && !*out_function; i++) {
		const struct elf_image *image = &images.image[i];

		if (!image->is_loader && !image->is_main)
			continue;
		*out_has_linker |= image->is_loader;
		if (elf_image_symbol(image, LINKER_FUNCTION, out_function, NULL))
			*out_function = 0;
	}
	elf_images_close(&images);
	return 0;
}

static int run_to_place(struct child *child)
{
	remote_addr function;
	bool has_linker;
	int err = memory_open(&child->memory, child->tracee.pid, child->tracee.tid);

	if (!err)
		err = find_place(child, &function, &has_linker);
	/* no ELF file for this CPU, or one that may not be read: attach says so, better */
	if (err == -ENOEXEC || err == -EACCES || err == -EPERM)
		return 0;
	if (err)
		return fail(child->launch, LAUNCH_NO_TRACE, err);
	if (!function && has_linker)
		return fail(child->launch, LAUNCH_NO_LINKER, -ENOTSUP);
	err = function ? run_to_relocated(child, function) : run_to_thread(child);
	return err && child->tracee.state != TRACEE_GONE &&
			       child->launch->failure != LAUNCH_NO_THREAD
		       ? fail(child->launch, LAUNCH_NO_TRACE, err)
		       : err;
}

/* ---- handing over ---------------------------------------------------------------------------- */

/*
 * The child takes the SIGSTOP before its next instruction. Sent again at each stop: a SIGCONT would
 * have removed it.
 */
static int leave_stopped(struct child *child)
{
	int status = 0, err = 0, signal = 0;

	while (!err) {
		if (kill(child->tracee.pid, SIGSTOP))
			return fail(child->launch, LAUNCH_NO_TRACE, -errno);
		err = go_on(child, PTRACE_CONT, signal);
		if (!err)
			err = wait_stop(child, &status);
		signal = err ? 0 : signal_of(status);
		if (signal == SIGSTOP)
			break;
	}
	if (!err)
		err = ptrace_request(PTRACE_DETACH, "detach", child->tracee.pid, 0, SIGSTOP);
	return err && child->tracee.state != TRACEE_GONE ? fail(child->launch, LAUNCH_NO_TRACE, err)
							 : err;
}

static void end(struct child *child)
{
	if (child->tracee.state == TRACEE_GONE)
		return;
	kill(child->tracee.pid, SIGKILL);
	while (waitpid(child->tracee.pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

int launch(struct launch *launch, pid_t *out_pid)
{
	struct child child = {.launch = launch, .memory.fd = -1};
	int err = start(&child);

	if (err)
		return fail(launch, LAUNCH_NO_CHILD, err);
	err = execute(&child);
	close(child.channel);
	if (!err && has_lost_rights(child.tracee.pid))
		err = fail(launch, LAUNCH_LOST_RIGHTS, -EPERM);
	if (!err)
		err = run_to_place(&child);
	if (!err)
		err = leave_stopped(&child);
	memory_close(&child.memory);
	if (err)
		end(&child);
	else
		*out_pid = child.tracee.pid;
	return err;
}

/* ---- letting it go --------------------------------------------------------------------------- */

struct letting_go {
	pid_t pid;
	const struct memory *memory;
	const struct remote_gadgets *gadgets;
	bool is_watched;
};

/*
 * The SIGCONT ends the stop while the thread is still held. So if this process is killed before the
 * prctl, the child is, too; after it the kernel lets the thread go with our death, and it runs.
 */
static int let_go(void *context)
{
	const struct letting_go *child = context;
	const uint64_t nothing[6] = {PR_SET_PDEATHSIG, 0};
	struct remote remote;
	int err =
		remote_open(&remote, child->pid, child->memory, child->gadgets, LET_GO_DEADLINE_MS);

	if (err)
		return err;
	err = kill(child->pid, SIGCONT) ? -errno : 0;
	fault_pass("the program is continued");
	if (!err)
		err = remote_syscall_or_fail(&remote, SYS_prctl, nothing, NULL);
	if (err)
		kill(child->pid, SIGKILL); /* nothing of it has run, nor shall it */
	fault_pass("the program may outlive us");
	const int closed =
		child->is_watched && !err ? remote_hand_over(&remote) : remote_close(&remote);
	return err ? err : closed;
}

int launch_let_go(pid_t pid, const struct memory *memory, const struct remote_gadgets *gadgets,
		  bool is_watched)
{
	struct letting_go child = {pid, memory, gadgets, is_watched};

	return is_watched ? exit_watch_begin(pid, let_go, &child) : tracee_worker(let_go, &child);
}
