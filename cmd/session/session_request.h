/* SPDX-License-Identifier: MIT */
/*
 * session_request.h - how another heapinject command sends a request to a running session, through
 * its control socket, and shows the answer.
 */
#ifndef HI_SESSION_REQUEST_H
#define HI_SESSION_REQUEST_H

#include <stdbool.h>

#include "preflight.h"

#define SESSION_NO_ANSWER (-1)

/* How an answer is shown. */
struct answer_form {
	/* one that reports a failure goes to standard error, and is then the only message */
	bool is_own;
	const char *title; /* a line that comes before any other; NULL = none */
};

/*
 * Sends the request to the session of pid, or of the process of which pid is a thread, and waits
 * for the answer. The answer goes to standard output. The session may use another
 * runtime directory or, if the caller is root, belong to another user.
 *
 * Returns an exit code of hi_exit.h, or SESSION_NO_ANSWER: there is no session that the caller may
 * ask, or it died during the request. In that case only, out_preflight describes the process, and
 * nothing has been printed about it yet.
 */
must_check int session_request(pid_t pid, const char *request, struct answer_form form,
			       struct preflight *out_preflight);

/*
 * The same, but `reader` takes the connection, reads the answer and closes the connection. It
 * returns an exit code, or SESSION_NO_ANSWER.
 */
typedef int session_reader(void *context, int connection);
must_check int session_request_read(pid_t pid, const char *request, session_reader *reader,
				    void *context, struct preflight *out_preflight);
/*
 * For a reader: waits for the answer. A session that is stopped (SIGSTOP, Ctrl-Z) will not answer,
 * and its payload disarms itself after a while: false, and the message that it will `request` once
 * it goes on. True: there is something to read.
 */
bool session_request_await(int connection, const char *request);
/* After SESSION_NO_ANSWER: whether it is certain that no session is or was attached. */
bool session_is_none(const struct preflight *preflight);
/*
 * After SESSION_NO_ANSWER: says why there is no session that the caller may ask, and what to do.
 * Returns the exit code.
 */
int session_explain_none(pid_t pid, const struct preflight *preflight);

#endif
