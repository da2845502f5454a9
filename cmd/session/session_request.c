/* SPDX-License-Identifier: MIT */
/* session_request.c - see session_request.h. */
#include "session_request.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_socket.h"
#include "hi_exit.h"
#include "namespaces.h"
#include "plain_text.h"
#include "procfs.h"

#define ANSWER_LOOK_MS 2000
#define LINE_MAX_SIZE (2 * PATH_MAX + 128)

bool session_request_await(int connection, const char *request)
{
	const pid_t session = control_socket_peer(connection);
	struct pollfd readable = {.fd = connection, .events = POLLIN};

	while (poll(&readable, 1, ANSWER_LOOK_MS) == 0) {
		struct proc_status status;
		if (session && !proc_status_read(session, session, &status) &&
		    status.state == 'T') {
			fprintf(stderr,
				"heapinject: the session (pid %d) is stopped and will %s once it "
				"goes on; continue it with kill -CONT %d\n",
				(int)session, request, (int)session);
			return false;
		}
	}
	return true;
}

/*
 * Reads one line of the answer as plain text, as a session of another user must not be able to
 * control the terminal. A longer line is split into several.
 */
static bool next_line(FILE *answer, char line[LINE_MAX_SIZE])
{
	char raw[LINE_MAX_SIZE];

	if (!fgets(raw, sizeof(raw), answer))
		return false;
	raw[strcspn(raw, "\n")] = 0;
	plain_text_copy(line, LINE_MAX_SIZE, raw);
	return true;
}

static int relay(FILE *answer, struct answer_form form)
{
	char line[LINE_MAX_SIZE];

	if (!next_line(answer, line))
		return SESSION_NO_ANSWER;
	const bool is_ok = !strcmp(line, "ok"), is_complaint = !is_ok && form.is_own;
	if (form.title)
		puts(form.title);
	if (is_complaint)
		fputs("heapinject: ", stderr);
	while (next_line(answer, line))
		fprintf(is_complaint ? stderr : stdout, "%s\n", line);
	return is_ok ? HI_EXIT_OK : HI_EXIT_FAILED;
}

struct asking {
	const char *request;
	struct answer_form form;
};

static bool names_files(const char *request)
{
	return !strcmp(request, "dump") || !strcmp(request, "detach");
}

static int await(void *context, int connection)
{
	const struct asking *asking = context;
	/* after its answer it may be gone */
	const bool is_elsewhere = namespaces_differ(control_socket_peer(connection), "mnt");
	int exit_code = HI_EXIT_FAILED;

	if (!session_request_await(connection, asking->request)) {
		close(connection);
		return exit_code;
	}
	FILE *answer = fdopen(connection, "r");
	if (!answer) {
		close(connection);
		return SESSION_NO_ANSWER;
	}
	exit_code = relay(answer, asking->form);
	fclose(answer);
	if (exit_code == HI_EXIT_OK && is_elsewhere && names_files(asking->request))
		fputs("heapinject: the session is in another container; files are named as "
		      "there\n",
		      stderr);
	return exit_code;
}

/* HI_EXIT_OK: the preflight says why there was no answer. Otherwise the error was printed. */
static int look(pid_t pid, struct preflight *preflight)
{
	const int err = preflight_run(pid, NULL, NULL, preflight, NULL);

	if (err == -ESRCH || (!err && preflight->verdict == PREFLIGHT_NO_PROCESS)) {
		fprintf(stderr, "heapinject: no process %d\n", (int)pid);
		return HI_EXIT_REFUSED;
	}
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid,
			strerror(-err));
		return HI_EXIT_FAILED;
	}
	return HI_EXIT_OK;
}

/* connection: negative = there is no connection. */
static int use(int connection, session_reader *reader, void *context)
{
	return connection < 0 ? SESSION_NO_ANSWER : reader(context, connection);
}

int session_request_read(pid_t pid, const char *request, session_reader *reader, void *context,
			 struct preflight *out_preflight)
{
	int exit_code = use(control_socket_request(pid, request), reader, context);

	if (exit_code != SESSION_NO_ANSWER)
		return exit_code;
	exit_code = look(pid, out_preflight);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	exit_code = SESSION_NO_ANSWER;
	/* pid was one of the threads of that process */
	if (out_preflight->pid && out_preflight->pid != pid)
		exit_code =
			use(control_socket_request(out_preflight->pid, request), reader, context);
	if (exit_code == SESSION_NO_ANSWER && out_preflight->verdict == PREFLIGHT_ATTACHED)
		exit_code = use(control_socket_request_of(out_preflight->injector,
							  out_preflight->pid, request),
				reader, context);
	return exit_code;
}

int session_request(pid_t pid, const char *request, struct answer_form form,
		    struct preflight *out_preflight)
{
	struct asking asking = {.request = request, .form = form};

	return session_request_read(pid, request, await, &asking, out_preflight);
}

/* preflight stopped before it could check for a session */
static bool is_unknown(const struct preflight *preflight)
{
	return preflight->verdict != PREFLIGHT_OK && preflight->verdict < PREFLIGHT_ATTACHED;
}

bool session_is_none(const struct preflight *preflight)
{
	return preflight->verdict != PREFLIGHT_ORPHAN && !is_unknown(preflight) &&
	       !preflight->injector;
}

int session_explain_none(pid_t pid, const struct preflight *preflight)
{
	if (preflight->verdict == PREFLIGHT_ORPHAN && preflight->has_ended)
		fprintf(stderr, "heapinject: no session is attached to %d (%s): %s; %s\n", (int)pid,
			preflight->comm, preflight->cause, preflight->remedy);
	else if (preflight->verdict == PREFLIGHT_ORPHAN)
		fprintf(stderr,
			"heapinject: the session that was attached to %d (%s) was killed; clean up "
			"with heapinject detach %d\n",
			(int)pid, preflight->comm, (int)pid);
	else if (is_unknown(preflight))
		fprintf(stderr,
			"heapinject: no session of yours is attached to %d (%s); whether another "
			"is cannot be told: %s; %s\n",
			(int)pid, preflight->comm, preflight->cause, preflight->remedy);
	else if (preflight->injector)
		fprintf(stderr,
			"heapinject: the session that is attached to %d (%s), pid %d, is another "
			"user's, or in another container; ask there\n",
			(int)pid, preflight->comm, (int)preflight->injector);
	else
		fprintf(stderr,
			"heapinject: no session is attached to %d (%s); begin one with heapinject "
			"attach %d\n",
			(int)pid, preflight->comm, (int)pid);
	return HI_EXIT_FAILED;
}
