/* SPDX-License-Identifier: MIT */
/*
 * Two threads allocate all the time while children are made in every way there is. A child checks
 * the blocks it has inherited, allocates and frees itself, forks once more, and exits 0 if all is
 * well. Commands: fork N = N children of each kind, answers "right" or how a child ended; stay = a
 * child that lives until the end, answers its pid; tell = that child must allocate now, answers
 * "right" or not.
 */
#include "../target.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>

#define BLOCKS 500

extern char **environ;

static unsigned char *inherited[BLOCKS];
static int to_child[2], from_child[2];

static size_t size_of(size_t i)
{
	return 10 + i * 37 % 5000;
}

static bool memory_is_right(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		for (size_t at = 0; at < size_of(i); at += 7)
			if (inherited[i][at] != (unsigned char)i)
				return false;
	return true;
}

static bool allocation_works(void)
{
	static unsigned char *blocks[2000];

	for (size_t i = 0; i < 2000; i++) {
		blocks[i] = malloc(size_of(i));
		memset(blocks[i], (int)i, size_of(i));
	}
	for (size_t i = 0; i < 2000; i += 2)
		blocks[i] = realloc(blocks[i], size_of(i) + 3000);
	for (size_t i = 0; i < 2000; i++) {
		if (blocks[i][0] != (unsigned char)i || blocks[i][9] != (unsigned char)i)
			return false;
		free(blocks[i]);
	}
	return true;
}

static void *allocate_on(void *unused)
{
	for (;;) {
		void *volatile block = malloc(3000);

		free(block);
	}
	return unused;
}

/* Frees what the parent has allocated too: its blocks may be in the parent's live set. */
static int child(int generations)
{
	int status = 0;

	if (!memory_is_right() || !allocation_works())
		return 1;
	if (generations > 0) {
		const pid_t pid = fork();

		if (pid == 0)
			_exit(child(generations - 1));
		if (waitpid(pid, &status, 0) != pid || status != 0)
			return 2;
	}
	for (size_t i = 0; i < BLOCKS; i++)
		free(inherited[i]);
	return allocation_works() ? 0 : 3;
}

static int status_of(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static int fork_one(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		exit(child(1)); /* with exit handlers and all */
	return status_of(pid);
}

static int vfork_one(void)
{
	const pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	return status_of(pid);
}

static int spawn_one(void)
{
	char *const arguments[] = {(char[]){"true"}, NULL};
	pid_t pid;

	return posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) ? -1 : status_of(pid);
}

static const char *make_children(int count)
{
	for (int i = 0; i < count; i++) {
		if (fork_one() != 0)
			return "a forked child failed";
		if (vfork_one() != 0)
			return "a vforked child failed";
		if (spawn_one() != 0)
			return "a spawned child failed";
		if (system("exit 7") != 7 << 8)
			return "system() failed";
	}
	return memory_is_right() ? "right" : "the parent's memory was damaged";
}

static pid_t stay(void)
{
	char byte;
	const pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(to_child[1]);
	while (read(to_child[0], &byte, 1) == 1) {
		byte = memory_is_right() && allocation_works() ? 'y' : 'n';
		if (write(from_child[1], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static const char *tell(void)
{
	char byte = '?';

	return write(to_child[1], &byte, 1) == 1 && read(from_child[0], &byte, 1) == 1 &&
			       byte == 'y'
		       ? "right"
		       : "the child that stayed is wrong";
}

int main(void)
{
	pthread_t thread;
	char command[TARGET_COMMAND_MAX];

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < BLOCKS; i++) {
		inherited[i] = malloc(size_of(i));
		memset(inherited[i], (int)i, size_of(i));
	}
	if (pipe(to_child) || pipe(from_child))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, allocate_on, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "fork ", 5) == 0)
			target_say("%s\n", make_children(atoi(command + 5)));
		else if (strcmp(command, "stay") == 0)
			target_say("%d\n", stay());
		else
			target_say("%s\n", tell());
	}
	return 0;
}
