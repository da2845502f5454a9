/* SPDX-License-Identifier: MIT */
/* main.c - heapinject. Everything is in cli.c, so that tests can link all but this file. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "hi_exit.h"
#include "pace.h"

static bool output_was_closed; /* nobody wants to read it */

/*
 * Opens the standard descriptors that are closed, until exec. Otherwise the next file that is
 * opened (a profile, or the target's memory) would get that number, and messages would be written
 * into it. The descriptors are opened for the wrong direction, so that using them still fails.
 */
static void occupy_standard_descriptors(void)
{
	output_was_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    O_CLOEXEC | (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/* Output that is lost (a full disk) is a failure, because scripts depend on the exit code. */
static int all_written(int exit_code)
{
	const char *why = fflush(stdout)   ? strerror(errno)
			  : ferror(stdout) ? "some of it is lost"
					   : NULL;
	if (!why || exit_code != HI_EXIT_OK || output_was_closed)
		return exit_code;
	fprintf(stderr, "heapinject: standard output cannot be written: %s\n", why);
	return HI_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	pace_give_way();
	return all_written(cli_run(argc, argv));
}
