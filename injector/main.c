/* SPDX-License-Identifier: MIT */
/* main.c - heapinject. Everything is in cli.c, so that tests can link all but this file. */
#include <fcntl.h>
#include <unistd.h>

#include "cli.h"
#include "pace.h"

/*
 * A standard descriptor that is closed would be the number of the next file that is opened: a profile, or the target's memory, with our messages in it. Opened
 * for the wrong direction, it still fails who uses it.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	pace_give_way();
	return cli_run(argc, argv);
}
