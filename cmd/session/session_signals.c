/* SPDX-License-Identifier: MIT */
/* session_signals.c - see session_signals.h. */
#include "session_signals.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "hi_exit.h"
#include "run_signals.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDING_SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))
static pid_t own_pid;
static int trigger; /* the signal that asks for a profile; 0 = none */

/*
 * Signal handler for the time before there is a session to end properly. Child processes that were
 * started to answer a question end without a message.
 */
static void end_early(int signal)
{
	static const char word[] = "heapinject: interrupted before anything was touched\n";
	(void)signal;
	if (getpid() == own_pid)
		(void)!write(STDERR_FILENO, word, sizeof(word) - 1);
	_exit(HI_EXIT_FAILED);
}

/*
 * Replaces the handler `from` by `to`. A signal that is ignored stays ignored: a shell without job
 * control makes its background jobs ignore SIGINT.
 */
static void handle_signals(void (*from)(int), void (*to)(int))
{
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		struct sigaction action;
		if (!sigaction(ending_signals[i], NULL, &action) && action.sa_handler == from)
			signal(ending_signals[i], to);
	}
}

void session_signals_end_early(void)
{
	own_pid = getpid();
	handle_signals(SIG_DFL, end_early);
}

int session_signals_take(bool passes_on)
{
	sigset_t set;
	sigemptyset(&set);
	if (passes_on)
		run_signals_set(&set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	handle_signals(end_early, SIG_DFL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int session_signals_take_trigger(int signal)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	trigger = signal;
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool session_signals_is_interrupted(int signal_fd)
{
	struct pollfd waits = {signal_fd, POLLIN, 0};
	if (poll(&waits, 1, 0) <= 0)
		return false;
	fprintf(stderr, "heapinject: interrupted before anything was touched\n");
	return true;
}

void session_signals_let_kill(int signal_fd)
{
	struct signalfd_siginfo seen;
	sigset_t none;
	while (read(signal_fd, &seen, sizeof(seen)) > 0)
		;
	/* there will be no more profile to ask for but that of the end */
	if (trigger)
		signal(trigger, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
