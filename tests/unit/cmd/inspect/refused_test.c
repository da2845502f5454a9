/* SPDX-License-Identifier: MIT */
/* refused.c: why a process cannot be looked at. */
#include "refused.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "hi_exit.h"
#include "unit.h"

/* No connection has anything to do with it. */
UNIT_TEST(what_takes_too_long)
{
	char said[256] = "";
	FILE *file = tmpfile();

	CHECK(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
	CHECK(refused_print(4711, -ETIMEDOUT) == HI_EXIT_FAILED);
	rewind(file);
	CHECK(fgets(said, sizeof(said), file) != NULL);
	CHECK_STR(said,
		  "heapinject: cannot look at process 4711: it was not searched to the end in a "
		  "minute: it has much memory, or the machine is busy; try again when that "
		  "has less to do\n");
	fclose(file);
}

/* What is done to it is nothing like attaching. */
UNIT_TEST(what_is_not_there)
{
	const pid_t pid = fork();
	char said[256] = "", want[128];
	FILE *file = tmpfile();

	if (!pid)
		_exit(0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
	CHECK(refused_print(pid, -ESRCH) == HI_EXIT_REFUSED);
	rewind(file);
	CHECK(fgets(said, sizeof(said), file) != NULL);
	snprintf(want, sizeof(want), "heapinject: cannot look at %d: no such process; ", (int)pid);
	CHECK(!strncmp(said, want, strlen(want)));
	fclose(file);
}

UNIT_MAIN()
