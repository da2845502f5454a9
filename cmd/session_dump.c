/* SPDX-License-Identifier: MIT */
/*
 * session_dump.c - `heapinject dump PID`: asks the session that is attached for a profile of what
 * it has so far.
 */
#include <stdio.h>

#include "hi_exit.h"
#include "session.h"
#include "session_request.h"

/* Explains why there is no session that the caller may ask, and what to do. */
static int explain_no_session(pid_t pid, const struct preflight *preflight)
{
	if (preflight->verdict == PREFLIGHT_ORPHAN)
		fprintf(stderr,
			"heapinject: the session that was attached to %d (%s) was killed; clean up "
			"with heapinject detach %d\n",
			(int)pid, preflight->comm, (int)pid);
	/* preflight stopped before it could check for a session */
	else if (preflight->verdict != PREFLIGHT_OK && preflight->verdict < PREFLIGHT_ATTACHED)
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

int session_dump(pid_t pid)
{
	static struct preflight preflight;
	const int exit_code = session_request(pid, "dump", true, &preflight);
	return exit_code == SESSION_NO_ANSWER ? explain_no_session(pid, &preflight) : exit_code;
}
