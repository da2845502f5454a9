/* SPDX-License-Identifier: MIT */
/* refused.c - see refused.h. */
#include "refused.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hi_exit.h"
#include "preflight.h"

int refused_print(pid_t pid, int err)
{
	static struct preflight preflight;
	char line[512];

	if ((err == -EACCES || err == -EPERM || err == -ESRCH) &&
	    !preflight_run(pid, NULL, NULL, &preflight, NULL) &&
	    preflight.verdict != PREFLIGHT_OK) {
		preflight_explain(&preflight, line, sizeof(line));
		fprintf(stderr, "heapinject: %s\n", line);
		return HI_EXIT_REFUSED;
	}
	fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid,
		err == -ESRCH     ? "it has ended, or executes another program"
		: err == -ENOEXEC ? "it is a 32-bit program, or not of this CPU"
				  : strerror(-err));
	return err == -ESRCH || err == -EACCES || err == -ENOEXEC ? HI_EXIT_REFUSED
								  : HI_EXIT_FAILED;
}
