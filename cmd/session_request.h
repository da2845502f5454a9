/* SPDX-License-Identifier: MIT */
/* session_request.h - how a command of its own asks a running session for something, through its control socket, and shows the answer. */
#ifndef HI_SESSION_REQUEST_H
#define HI_SESSION_REQUEST_H

#include <stdbool.h>

#include "preflight.h"

#define SESSION_NO_ANSWER (-1)

/*
 * Sends the request to the session of pid, or of the process that pid is a thread of, and waits for the answer, which goes to standard output, or to standard
 * error where it tells of a failure and is_own is true: then it is all that is said. The session may be one of another runtime directory or, for root, of
 * another user.
 *
 * Returns an exit code of hi_exit.h, or SESSION_NO_ANSWER: there is no session that we may ask, or it died over it. Then, and only then, out_preflight tells of
 * the process, of which nothing has been said yet.
 */
must_check int session_request(pid_t pid, const char *request, bool is_own, struct preflight *out_preflight);

#endif
