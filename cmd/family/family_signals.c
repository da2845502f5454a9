/* SPDX-License-Identifier: MIT */
/* family_signals.c - see family_signals.h. */
#include "family_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_signals.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDING_SIGNALS (sizeof(ending_signals) / sizeof(*ending_signals))

void family_signals_take(struct family *family)
{
	sigset_t set;

	sigemptyset(&set);
	if (family->options->argv)
		run_signals_set(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	family->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void end_all(struct family *family)
{
	for (size_t i = 0; i < family->all.count; i++) {
		const struct member *member = &family->all.member[i];

		if (member->state == MEMBER_RUNS &&
		    (family->is_ending || !member->outcome->is_ending))
			kill(member->session, SIGTERM);
	}
	family->is_ending = true;
}

static bool is_ending(int signal)
{
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		if (ending_signals[i] == signal)
			return true;
	return false;
}

/* The program that was started, while it is there, or is about to be. */
static const struct member *running_program(const struct family *family)
{
	const struct member *first = family->all.count ? &family->all.member[0] : NULL;

	if (!first || !first->is_program || first->state != MEMBER_RUNS)
		return NULL;
	return !first->process.pid || process_found_is_there(&first->process) ? first : NULL;
}

/* A signal that ends a session ends all; a further one is for those that still write files. */
void family_signals_serve(struct family *family)
{
	struct signalfd_siginfo seen;

	while (read(family->signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
		const int signal = (int)seen.ssi_signo;
		const struct member *program = running_program(family);

		if (signal == SIGCHLD)
			continue;
		if (program && seen.ssi_code != SI_KERNEL)
			kill(program->session, signal);
		else if (!program && is_ending(signal))
			end_all(family);
		else if (!program && signal == SIGTSTP)
			raise(SIGSTOP);
	}
}

/*
 * A shell continues all of them, the session perhaps long before this process. It is not continued
 * once more then: SIGCONT also discards a SIGTSTP that has come to it since.
 */
void family_signals_stop_with(const struct member *program)
{
	siginfo_t since = {0};

	raise(SIGSTOP);
	if (!waitid(P_PID, (id_t)program->session, &since,
		    WCONTINUED | WSTOPPED | WEXITED | WNOHANG | WNOWAIT) &&
	    !since.si_pid)
		kill(program->session, SIGCONT);
}
