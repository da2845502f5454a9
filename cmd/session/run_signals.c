/* SPDX-License-Identifier: MIT */
/* run_signals.c - see run_signals.h. */
#include "run_signals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "arch.h"
#include "exit_watch.h"
#include "procfs.h"
#include "run_child.h"

/* rounds of a session: a program that handles the signal may take its time to stop */
#define STOP_LOOKS 400

static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
static const int stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static pid_t recipient; /* of the handlers */

void run_signals_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < COUNT(passed); i++)
		sigaddset(set, passed[i]);
	for (size_t i = 0; i < COUNT(stopping); i++)
		sigaddset(set, stopping[i]);
}

static bool is_stopping(int signal)
{
	for (size_t i = 0; i < COUNT(stopping); i++)
		if (stopping[i] == signal)
			return true;
	return false;
}

static bool is_stopped(pid_t pid)
{
	struct proc_status status;

	return exit_watch_is_stopped() ||
	       (!proc_status_read(pid, pid, &status) && status.state == 'T');
}

/*
 * Stops this process while the program is stopped. A shell that continues both does so one after
 * the other: the payload must not find heapinject silent for too long if the program comes first.
 */
static void stop_with(struct session *session, pid_t child)
{
	struct hi_control *shared = session->attachment.arena.shared;
	const uint64_t patience = shared->deadman_cycles;

	shared->deadman_cycles = 0;
	raise(SIGSTOP);
	shared->heartbeat = arch_cycles();
	shared->deadman_cycles = patience;
	if (is_stopped(child))
		kill(child, SIGCONT);
}

void run_signals_serve(struct session *session)
{
	struct run_child *run = session->options->run;
	struct signalfd_siginfo seen;

	while (read(session->signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
		const int signal = (int)seen.ssi_signo;

		if (seen.ssi_code != SI_KERNEL)
			kill(run->pid, signal);
		if (is_stopping(signal))
			run->stop_looks = STOP_LOOKS;
	}
	if (run->stop_looks && is_stopped(run->pid)) {
		run->stop_looks = 0;
		stop_with(session, run->pid);
	}
	run->stop_looks -= run->stop_looks > 0;
}

/* ---- after the session ----------------------------------------------------------------------- */

static void pass_on(int signal, siginfo_t *info, void *context)
{
	const int before = errno;

	(void)context;
	if (info->si_code != SI_KERNEL)
		kill(recipient, signal);
	if (is_stopping(signal)) {
		raise(SIGSTOP);
		kill(recipient, SIGCONT);
	}
	errno = before;
}

void run_signals_pass_on(int signal_fd, pid_t child)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct signalfd_siginfo seen;
	sigset_t set;

	recipient = child;
	run_signals_set(&set);
	for (int signal = 1; signal < NSIG; signal++)
		if (sigismember(&set, signal) == 1)
			sigaction(signal, &action, NULL);
	while (read(signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen))
		if (seen.ssi_code != SI_KERNEL)
			kill(child, (int)seen.ssi_signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
