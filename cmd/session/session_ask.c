/* SPDX-License-Identifier: MIT */
/*
 * session_ask.c - `heapinject dump`, `pause`, `resume`, `reset` and `rate`: requests to the session
 * that is attached, whose answer is shown.
 */
#include "session.h"
#include "session_request.h"

int session_ask(pid_t pid, const char *request)
{
	static struct preflight preflight;
	const int exit_code = session_request(pid, request, true, &preflight);
	return exit_code == SESSION_NO_ANSWER ? session_explain_none(pid, &preflight) : exit_code;
}
