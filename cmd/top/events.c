/* SPDX-License-Identifier: MIT */
/* events.c - see events.h. */
#include "events.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "screen.h"

#define FDS_MAX 8

/* those that a parent has told it to ignore (nohup) stay ignored */
static bool is_ignored(int number)
{
	struct sigaction before;

	return !sigaction(number, NULL, &before) && before.sa_handler == SIG_IGN;
}

/*
 * Where nobody handles SIGTSTP, ncurses has it ignored while it draws, and the kernel then drops
 * one that has just come, although it is blocked. Where it has a handler, ncurses leaves it alone.
 * This one never runs.
 */
static void leave_it_blocked(int number)
{
	(void)number;
}

int events_open(struct events *events)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD, SIGWINCH};
	sigset_t wanted;

	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i] == SIGCHLD)
			signal(SIGCHLD,
			       SIG_DFL); /* ignored, its children could not be waited for */
		else if (is_ignored(numbers[i]))
			continue;
		if (numbers[i] == SIGTSTP)
			signal(SIGTSTP, leave_it_blocked);
		sigaddset(&wanted, numbers[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &wanted, NULL))
		return -errno;
	*events = (struct events){.signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK)};
	return events->signal_fd < 0 ? -errno : 0;
}

/* Stops this process, as the shell expects it, and goes on once the shell wants that. */
static void stop_here(void)
{
	sigset_t stop;

	screen_suspend();
	signal(SIGTSTP, SIG_DFL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal(SIGTSTP, leave_it_blocked);
	screen_resume();
}

static void take_signals(struct events *events)
{
	struct signalfd_siginfo seen;
	bool is_stopped = false;

	while (read(events->signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
		if (seen.ssi_signo == SIGWINCH)
			screen_resize();
		else if (seen.ssi_signo == SIGTSTP)
			is_stopped = true;
		else if (seen.ssi_signo != SIGCHLD)
			events->ended_by = (int)seen.ssi_signo;
	}
	if (is_stopped && !events->ended_by)
		stop_here();
}

bool events_wait(struct events *events, const int *fds, size_t count, int timeout_ms)
{
	struct pollfd waits[FDS_MAX + 2] = {{STDIN_FILENO, POLLIN, 0},
					    {events->signal_fd, POLLIN, 0}};

	for (size_t i = 0; i < count && i < FDS_MAX; i++)
		waits[2 + i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	const int found = poll(waits, 2 + (count < FDS_MAX ? count : FDS_MAX), timeout_ms);
	if (found > 0 && waits[1].revents)
		take_signals(events);
	if (found > 0 && waits[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		events->ended_by = SIGHUP;
	return !events->ended_by;
}
