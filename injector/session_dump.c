/* SPDX-License-Identifier: MIT */
/*
 * session_dump.c - `heapinject dump PID`: asks the session that is attached for a profile of what it has so far.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hi_exit.h"
#include "preflight.h"
#include "session.h"
#include "session_request.h"

/* There is none that we could ask: why, and what to do. */
static int explain_no_session(pid_t pid, const struct preflight *preflight)
{
	if (preflight->verdict == PREFLIGHT_ORPHAN)
		fprintf(stderr, "heapinject: the session that was attached to %d (%s) was killed; clean up with heapinject detach %d\n", (int)pid,
			preflight->comm, (int)pid);
	else if (preflight->injector)
		fprintf(stderr, "heapinject: the session that is attached to %d (%s), pid %d, is of another user or runtime directory; ask there\n", (int)pid,
			preflight->comm, (int)preflight->injector);
	else
		fprintf(stderr, "heapinject: no session is attached to %d (%s); begin one with heapinject attach %d\n", (int)pid, preflight->comm, (int)pid);
	return HI_EXIT_FAILED;
}

int session_dump(pid_t pid)
{
	static struct preflight preflight;
	int exit_code = session_request(pid, "dump", true);
	if (exit_code != SESSION_NO_ANSWER)
		return exit_code;
	int err = preflight_run(pid, &preflight);
	if (err == -ESRCH || (!err && preflight.verdict == PREFLIGHT_NO_PROCESS)) {
		fprintf(stderr, "heapinject: no process %d\n", (int)pid);
		return HI_EXIT_REFUSED;
	}
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (preflight.pid && preflight.pid != pid) /* it was one of its threads */
		exit_code = session_request(preflight.pid, "dump", true);
	return exit_code == SESSION_NO_ANSWER ? explain_no_session(pid, &preflight) : exit_code;
}
