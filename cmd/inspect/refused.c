/* SPDX-License-Identifier: MIT */
/* refused.c - see refused.h. */
#include "refused.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hi_exit.h"
#include "preflight.h"

/* Why it cannot be attached to is why `what` cannot be done, too. */
static bool explain(pid_t pid, const char *what, bool (*is_reason)(enum preflight_verdict verdict))
{
	static struct preflight preflight;
	char line[512];

	if (preflight_run(pid, NULL, NULL, &preflight, NULL) || !is_reason(preflight.verdict))
		return false;
	preflight_explain(&preflight, what, line, sizeof(line));
	fprintf(stderr, "heapinject: %s\n", line);
	return true;
}

static bool is_any(enum preflight_verdict verdict)
{
	return verdict != PREFLIGHT_OK;
}

/* Not all that keeps us from hooking functions keeps us from stopping threads. */
static bool keeps_from_tracing(enum preflight_verdict verdict)
{
	return (verdict != PREFLIGHT_OK && verdict <= PREFLIGHT_NO_PTRACE) ||
	       verdict == PREFLIGHT_FROZEN || verdict == PREFLIGHT_UNINTERRUPTIBLE ||
	       verdict == PREFLIGHT_MEMORY_SHARED;
}

int refused_print(pid_t pid, int err)
{
	if ((err == -EACCES || err == -EPERM || err == -ESRCH) && explain(pid, "look at", is_any))
		return HI_EXIT_REFUSED;
	fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid,
		err == -ESRCH ? "it has ended, or executes another program"
		: err == -ETIMEDOUT
			? "it was not searched to the end in a minute: it has much memory, or the "
			  "machine is busy; try again when that has less to do"
		: err == -ENOEXEC ? "it is a 32-bit program, or not of this CPU"
				  : strerror(-err));
	return err == -ESRCH || err == -EACCES || err == -ENOEXEC ? HI_EXIT_REFUSED
								  : HI_EXIT_FAILED;
}

int refused_freeze(pid_t pid, int err, const char *why)
{
	if (err == -EBUSY && explain(pid, "stop", keeps_from_tracing))
		return HI_EXIT_REFUSED;
	fprintf(stderr, "heapinject: process %d was not looked at: %s\n", (int)pid, why);
	return HI_EXIT_REFUSED;
}
