/* SPDX-License-Identifier: MIT */
/* run.c - see run.h. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_exit.h"
#include "launch.h"
#include "pace.h"
#include "procfs.h"
#include "run_child.h"
#include "run_signals.h"

/* ---- the program's start --------------------------------------------------------------------- */

/* what the child is to inherit, as this process was given it */
static sigset_t inherited_mask;
static struct sigaction inherited_sigchld, inherited_sigpipe;
static int inherited_output[2]; /* standard output and error; -1 = closed */
static bool is_inherited_noted;

/* A descriptor under its own number, or closed; those that are opened until exec are. */
static void take_back(int fd, int inherited)
{
	if (inherited < 0)
		close(fd);
	else
		(void)dup2(inherited, fd);
}

static void prepare_child(void)
{
	pace_take_back();
	take_back(STDOUT_FILENO, inherited_output[0]);
	take_back(STDERR_FILENO, inherited_output[1]);
	sigaction(SIGPIPE, &inherited_sigpipe, NULL);
	sigaction(SIGCHLD, &inherited_sigchld, NULL);
	sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

/* From here on signals wait until they can be passed on, and children until they are waited for. */
static void hold_signals(void)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	run_signals_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int keep_open(int fd)
{
	const int flags = fcntl(fd, F_GETFD);

	return flags < 0 || flags & FD_CLOEXEC ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void run_note_inherited(void)
{
	if (is_inherited_noted)
		return;
	is_inherited_noted = true;
	inherited_output[0] = keep_open(STDOUT_FILENO);
	inherited_output[1] = keep_open(STDERR_FILENO);
	sigaction(SIGPIPE, NULL, &inherited_sigpipe);
	sigaction(SIGCHLD, NULL, &inherited_sigchld);
	sigprocmask(SIG_SETMASK, NULL, &inherited_mask);
}

/* The exit code by a wait status. Says so where a signal is the cause, as shells do. */
static int exit_code_of(int status, const char *name)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "heapinject: %s was ended by signal %d (%s)%s\n", name, WTERMSIG(status),
		strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
	return HI_EXIT_BY_SIGNAL + WTERMSIG(status);
}

static int explain_launch(const struct launch *launch, int err)
{
	const char *name = launch->argv[0];

	switch (launch->failure) {
	case LAUNCH_NO_EXEC:
		fprintf(stderr, "heapinject: %s: %s\n", name, strerror(-err));
		return err == -ENOENT ? HI_EXIT_NOT_FOUND : HI_EXIT_NOT_EXECUTABLE;
	case LAUNCH_ENDED:
		return exit_code_of(launch->status, name);
	case LAUNCH_NO_TRACE:
		fprintf(stderr,
			"heapinject: cannot run %s: it cannot be traced: %s; start it without "
			"heapinject, and see what `heapinject check PID` says\n",
			name, strerror(-err));
		return HI_EXIT_REFUSED;
	case LAUNCH_LOST_RIGHTS:
		fprintf(stderr,
			"heapinject: cannot run %s: its file gives it rights (set-user-ID, "
			"capabilities) that a traced program does not get; use sudo\n",
			name);
		return HI_EXIT_REFUSED;
	case LAUNCH_NO_LINKER:
	case LAUNCH_NO_THREAD:
		fprintf(stderr,
			"heapinject: cannot run %s: %s; start it without heapinject, and attach to "
			"it\n",
			name,
			launch->failure == LAUNCH_NO_LINKER
				? "its dynamic linker does not say when all is loaded (no "
				  "_dl_debug_state)"
				: "it is static, and has no thread pointer");
		return HI_EXIT_REFUSED;
	default:
		fprintf(stderr, "heapinject: cannot run %s: %s\n", name, strerror(-err));
		return HI_EXIT_FAILED;
	}
}

/* ---- its end --------------------------------------------------------------------------------- */

static int wait_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool has_exited(pid_t pid)
{
	siginfo_t end = {0};

	return !waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT | WNOHANG) && end.si_pid;
}

/* The session is over, or there was none. The program's own failure is told rather than ours. */
static int finish(const struct session_options *options, const char *name, int exit_code)
{
	const struct run_child *run = options->run;
	int status;

	if (!run->goes) { /* nothing of it has run */
		kill(run->pid, SIGKILL);
		kill(run->pid, SIGCONT);
		(void)wait_end(run->pid);
		fprintf(stderr, "heapinject: %s was not run\n", name);
		return exit_code;
	}
	if (!has_exited(run->pid) && !options->quiet)
		fprintf(stderr,
			"heapinject: %s (pid %d) goes on, and its exit status is waited for\n",
			name, (int)run->pid);
	status = wait_end(run->pid);
	status = exit_code_of(status, name);
	if (options->outcome) {
		options->outcome->program_exit = status;
		options->outcome->session_exit = exit_code;
		options->outcome->has_exited = true;
	}
	return status ? status : exit_code;
}

int run_program(struct session_options *options, char **argv)
{
	static struct run_child run;
	struct launch start = {.argv = argv, .prepare = prepare_child};

	run_note_inherited();
	hold_signals();
	const int err = launch(&start, &run.pid);
	if (err)
		return explain_launch(&start, err);
	ptrace_keep_status(run.pid);
	options->run = &run;
	options->pid = run.pid;
	if (options->outcome)
		options->outcome->program = run.pid;
	return finish(options, argv[0], session_attach(options));
}
