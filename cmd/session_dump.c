/* SPDX-License-Identifier: MIT */
/*
 * session_dump.c - `heapinject dump PID`: asks the session that is attached for a profile of what
 * it has so far.
 */
#include "session.h"
#include "session_request.h"

int session_dump(pid_t pid)
{
	static struct preflight preflight;
	const int exit_code = session_request(pid, "dump", true, &preflight);
	return exit_code == SESSION_NO_ANSWER ? session_explain_none(pid, &preflight) : exit_code;
}
