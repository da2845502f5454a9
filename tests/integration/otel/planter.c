/* SPDX-License-Identifier: MIT */
/*
 * planter PID: whenever the file of the probes of a process is there, puts a fifo in its place.
 * Says how often, at the end of standard input.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char name[64], fifo[64];
	int planted = 0;

	snprintf(name, sizeof(name), "/tmp/heapinject-otel-%s.so", argc == 2 ? argv[1] : "");
	snprintf(fifo, sizeof(fifo), "/tmp/planter-%d", getpid());
	while (!poll(&input, 1, 0)) {
		struct stat found;

		(void)mkfifo(fifo, 0666);
		for (int tries = 0; tries < 10000; tries++)
			if (!lstat(name, &found) && S_ISREG(found.st_mode) && !rename(fifo, name)) {
				planted++;
				break;
			}
	}
	unlink(fifo);
	printf("%d\n", planted);
	return 0;
}
