/* SPDX-License-Identifier: MIT */
/* session_request.c - see session_request.h. */
#include "session_request.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_socket.h"
#include "hi_exit.h"
#include "procfs.h"

#define ANSWER_LOOK_MS 2000

/* A session that is stopped (SIGSTOP, Ctrl-Z) will not answer; its payload disarms itself meanwhile. True: there is something to read. */
static bool wait_for_answer(int connection, const char *request)
{
	const pid_t session = control_socket_peer(connection);
	struct pollfd readable = {.fd = connection, .events = POLLIN};

	while (poll(&readable, 1, ANSWER_LOOK_MS) == 0) {
		struct proc_status status;
		if (session && !proc_status_read(session, session, &status) && status.state == 'T') {
			fprintf(stderr, "heapinject: the session (pid %d) is stopped and will %s once it goes on; continue it with kill -CONT %d\n",
				(int)session, request, (int)session);
			return false;
		}
	}
	return true;
}

static int relay(FILE *answer, bool is_own)
{
	char line[512];

	if (!fgets(line, sizeof line, answer))
		return SESSION_NO_ANSWER;
	const bool is_ok = !strcmp(line, "ok\n"), is_complaint = !is_ok && is_own;
	if (is_complaint)
		fputs("heapinject: ", stderr);
	while (fgets(line, sizeof line, answer))
		fputs(line, is_complaint ? stderr : stdout);
	return is_ok ? HI_EXIT_OK : HI_EXIT_FAILED;
}

int session_request(pid_t pid, const char *request, bool is_own)
{
	const int connection = control_socket_request(pid, request);
	int exit_code = HI_EXIT_FAILED;

	if (connection < 0)
		return SESSION_NO_ANSWER;
	if (!wait_for_answer(connection, request)) {
		close(connection);
		return exit_code;
	}
	FILE *answer = fdopen(connection, "r");
	if (!answer) {
		close(connection);
		return SESSION_NO_ANSWER;
	}
	exit_code = relay(answer, is_own);
	fclose(answer);
	return exit_code;
}
