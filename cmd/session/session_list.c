/* SPDX-License-Identifier: MIT */
/*
 * session_list.c - see session_list.h. Start at session_list().
 *
 * Sessions are found by the processes that are called heapinject, and by the sockets in the
 * directory of the caller, which also has those of a program with another name.
 */
#include "session_list.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_socket.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "namespaces.h"
#include "procfs.h"
#include "session_request.h"

#define ANSWER_DEADLINE_MS 3000
#define SESSIONS_MAX 1024

struct listing {
	session_visitor *visit;
	void *context;
	pid_t asked;              /* the process whose session is asked */
	pid_t seen[SESSIONS_MAX]; /* injectors that were asked */
	size_t seen_count;
};

static bool is_seen(struct listing *listing, pid_t injector)
{
	for (size_t i = 0; i < listing->seen_count; i++)
		if (listing->seen[i] == injector)
			return true;
	if (listing->seen_count < SESSIONS_MAX)
		listing->seen[listing->seen_count++] = injector;
	return false;
}

/* ---- one answer ------------------------------------------------------------------------------ */

/* Reads to the end of the connection. False: the deadline has passed, or it is too much. */
static bool read_all(int connection, char text[STATUS_FIELDS_TEXT_MAX])
{
	struct pollfd readable = {.fd = connection, .events = POLLIN};
	size_t size = 0;
	ssize_t got = 1;

	while (got > 0 && size < STATUS_FIELDS_TEXT_MAX - 1) {
		if (poll(&readable, 1, ANSWER_DEADLINE_MS) <= 0)
			return false;
		got = read(connection, text + size, STATUS_FIELDS_TEXT_MAX - 1 - size);
		size += got > 0 ? (size_t)got : 0;
	}
	text[size] = 0;
	return got == 0;
}

/* NULL, or why there is no status, in words that follow "the session of pid N". */
static const char *read_fields(int connection, const struct ucred *session,
			       struct status_fields *out_fields)
{
	static char text[STATUS_FIELDS_TEXT_MAX];

	if (!read_all(connection, text))
		return "does not answer; it may be stopped, or is just attaching or detaching";
	if (strncmp(text, "ok\n", 3) || status_fields_read(text + 3, out_fields))
		return "does not tell its status; it is of another version of heapinject";
	out_fields->injector = (uint64_t)session->pid;
	out_fields->uid = session->uid;
	out_fields->is_elsewhere = namespaces_differ(session->pid, "mnt");
	return NULL;
}

/* pid: of the process here; in another pid namespace the session has another number for it. */
static void number_process(struct status_fields *fields, pid_t pid)
{
	const pid_t session = (pid_t)fields->injector;

	if (!namespaces_differ(session, "pid"))
		return;
	fields->pid = (uint64_t)pid;
	if (fields->family)
		fields->family = (uint64_t)namespaces_find(session, (pid_t)fields->family);
}

/* The same, which is printed if there is none. Returns an exit code. */
static int read_status(int connection, struct status_fields *out_fields)
{
	struct ucred session = {0};
	socklen_t size = sizeof(session);
	const char *why = "is gone";

	if (!getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &session, &size))
		why = read_fields(connection, &session, out_fields);
	if (!why)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: the session of pid %d %s\n", (int)session.pid, why);
	return HI_EXIT_FAILED;
}

/* Of a session that was asked already, the answer is not wanted again. */
static int take(void *context, int connection)
{
	static struct status_fields fields;
	struct listing *listing = context;
	const pid_t session = control_socket_peer(connection);
	int exit_code = HI_EXIT_OK;

	if (session && !is_seen(listing, session)) {
		exit_code = read_status(connection, &fields);
		if (exit_code == HI_EXIT_OK) {
			number_process(&fields, listing->asked);
			listing->visit(listing->context, &fields);
		}
	}
	close(connection);
	return exit_code;
}

/* ---- all sessions ---------------------------------------------------------------------------- */

static bool is_heapinject(pid_t pid)
{
	struct proc_status status;

	return !proc_status_read(pid, pid, &status) && !strncmp(status.comm, "heapinject", 10);
}

/* Asks the sessions whose sockets lie where those of this process do; 0 = of the caller. */
static void ask_sockets_of(struct listing *listing, pid_t session)
{
	pid_t attached[SESSIONS_MAX];
	const size_t count = control_socket_list(session, attached, SESSIONS_MAX);

	for (size_t i = 0; i < count; i++) {
		const int connection =
			session ? control_socket_request_of(session, attached[i], "status")
				: control_socket_request(attached[i], "status");
		listing->asked = attached[i];
		if (connection >= 0)
			(void)take(listing, connection);
	}
}

void session_list(session_visitor *visit, void *context)
{
	static struct listing listing;
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	listing = (struct listing){.visit = visit, .context = context};
	control_socket_sweep();
	ask_sockets_of(&listing, 0);
	while (proc && (entry = readdir(proc))) {
		uint64_t pid;
		const char *end;

		if (!hi_parse_digits(entry->d_name, &pid, &end) && !*end && pid <= INT32_MAX &&
		    (pid_t)pid != getpid() && is_heapinject((pid_t)pid))
			ask_sockets_of(&listing, (pid_t)pid);
	}
	if (proc)
		closedir(proc);
}

int session_list_one(pid_t pid, session_visitor *visit, void *context)
{
	static struct listing listing;
	static struct preflight preflight;

	listing = (struct listing){.visit = visit, .context = context, .asked = pid};
	const int exit_code = session_request_read(pid, "status", take, &listing, &preflight);
	return exit_code == SESSION_NO_ANSWER ? session_explain_none(pid, &preflight) : exit_code;
}

static int take_fields(void *context, int connection)
{
	const int exit_code = read_status(connection, context);

	close(connection);
	return exit_code;
}

int session_list_read(pid_t pid, struct status_fields *out_fields, struct preflight *out_preflight)
{
	const int exit_code =
		session_request_read(pid, "status", take_fields, out_fields, out_preflight);

	if (exit_code == HI_EXIT_OK)
		number_process(out_fields, pid);
	return exit_code;
}
