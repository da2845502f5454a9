/* SPDX-License-Identifier: MIT */
/* steer.c - see steer.h. */
#include "steer.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "hi_exit.h"
#include "session.h"

/* What a command says of a failure may be on either stream. */
static void copy(int from, int to)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (write(to, bytes, (size_t)got) != got)
			return;
		at += got;
	}
}

bool steer(const struct serve_options *options, pid_t pid, bool is_detach, int answer_fd,
	   int complaint_fd)
{
	const pid_t own = getpid();
	int exit_code = HI_EXIT_FAILED;

	/* serve ignores it, a session should not */
	signal(SIGPIPE, SIG_DFL);
	if (dup2(answer_fd, STDOUT_FILENO) < 0 || dup2(answer_fd, STDERR_FILENO) < 0)
		return false;
	if (is_detach)
		exit_code = session_detach(pid, NULL);
	else if (options->attach)
		exit_code = options->attach(pid);
	fflush(NULL);
	/* the process of the session that was to begin comes here, too */
	if (getpid() != own)
		_exit(exit_code);
	if (exit_code != HI_EXIT_OK)
		copy(answer_fd, complaint_fd);
	return exit_code == HI_EXIT_OK;
}
