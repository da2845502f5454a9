/* SPDX-License-Identifier: MIT */
/*
 * A daemon. Usage: target DIRECTORY [WORKERS]. Once DIRECTORY/start exists, it calls daemon(3), and
 * what that has forked forks once more and ends: a new session, and a process whose parent is none
 * of it. That one writes its pid to DIRECTORY/pid, keeps 100 blocks of 1000 bytes once
 * DIRECTORY/leak exists, says so by DIRECTORY/done, and exits once DIRECTORY/end exists. It forks
 * WORKERS more at once, of which each writes its pid to DIRECTORY/pid.N, keeps such blocks, says so
 * by DIRECTORY/done.N and exits likewise.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 100
#define BLOCK_BYTES 1000
#define LIFETIME_SECONDS 120

static void wait_for(const char *name)
{
	while (access(name, F_OK))
		usleep(5000);
}

static void write_pid(const char *name)
{
	char unfinished[64];

	snprintf(unfinished, sizeof(unfinished), "new.%d", (int)getpid());
	FILE *file = fopen(unfinished, "w");

	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ||
	    rename(unfinished, name))
		_exit(1);
}

__attribute__((noinline)) static void *leak_of_daemon(void)
{
	char *block = malloc(BLOCK_BYTES);

	return block ? memset(block, 1, BLOCK_BYTES) : 0;
}

_Noreturn static void work(int number)
{
	char name[32];

	alarm(LIFETIME_SECONDS);
	snprintf(name, sizeof(name), "pid.%d", number);
	write_pid(name);
	wait_for("leak");
	for (int i = 0; i < BLOCKS; i++)
		leak_of_daemon();
	snprintf(name, sizeof(name), "done.%d", number);
	write_pid(name);
	wait_for("end");
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3 || chdir(argv[1]))
		return 2;
	alarm(LIFETIME_SECONDS);
	wait_for("start");
	if (daemon(1, 1))
		return 1;
	const pid_t pid = fork();
	if (pid)
		_exit(pid < 0);
	alarm(LIFETIME_SECONDS);
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
		if (!fork())
			work(i);
	write_pid("pid");
	wait_for("leak");
	for (int i = 0; i < BLOCKS; i++)
		leak_of_daemon();
	write_pid("done");
	wait_for("end");
	return 0;
}
