/* SPDX-License-Identifier: MIT */
/*
 * session_ask.c - `heapinject dump`, `pause`, `resume`, `reset` and `rate`: requests to the session
 * that is attached, whose answer is shown.
 */
#include <stdio.h>
#include <unistd.h>

#include "hi_exit.h"
#include "session.h"
#include "session_profile.h"
#include "session_request.h"

int session_ask(pid_t pid, const char *request, struct session_one *one)
{
	static struct preflight preflight;
	const struct answer_form form = {.is_own = true, .title = one ? one->title : NULL};
	const int exit_code = session_request(pid, request, form, &preflight);

	if (exit_code != SESSION_NO_ANSWER)
		return exit_code;
	if (!one || !session_is_none(&preflight))
		return session_explain_none(pid, &preflight);
	one->has_none = true;
	return HI_EXIT_OK;
}

static int copy_to_output(int fd)
{
	char bytes[1 << 16];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		if (fwrite(bytes, 1, (size_t)got, stdout) != (size_t)got)
			return HI_EXIT_OK; /* main() reports what is lost */
	return got ? HI_EXIT_FAILED : HI_EXIT_OK;
}

int session_show(pid_t pid)
{
	static struct preflight preflight;
	int fd, exit_code;

	if (isatty(STDOUT_FILENO)) {
		fprintf(stderr, "heapinject: standard output is a terminal; pipe the profile into "
				"`heapinject report -` or a file\n");
		return HI_EXIT_USAGE;
	}
	exit_code = session_profile(pid, &fd, &preflight);
	if (exit_code == SESSION_NO_ANSWER)
		return session_explain_none(pid, &preflight);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	exit_code = copy_to_output(fd);
	close(fd);
	return exit_code;
}
