/* SPDX-License-Identifier: MIT */
/*
 * A process that forks workers. Commands: fork = a worker; grand = a worker that is a child of the
 * first one; exec = a child that executes sleep; brief = 20 children that end at once; each answers
 * with a pid, or 0. leak N = the worker with number K (from 1) keeps K * N blocks of 1000 bytes, of
 * a function of its own, and this process N blocks; answers "done". map N = the same of mappings of
 * 4096 bytes, all of one function. end = the first worker exits.
 */
#include "../target.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BLOCK_BYTES 1000
#define MAPPED_BYTES 4096
#define MAPS (1 << 20) /* beside the number of blocks: they are mappings */
#define WORKERS 5
#define LIFETIME_SECONDS 250

static struct {
	int to, from;
} worker[WORKERS];
static int workers;

#define LEAK(name)                                                \
	__attribute__((noinline)) static void *name(void)         \
	{                                                         \
		char *block = malloc(BLOCK_BYTES);                \
		return block ? memset(block, 1, BLOCK_BYTES) : 0; \
	}
LEAK(leak_of_parent)
LEAK(leak_of_1)
LEAK(leak_of_2)
LEAK(leak_of_3)
LEAK(leak_of_4)
LEAK(leak_of_5)

static void *(*const leak[])(void) = {leak_of_parent, leak_of_1, leak_of_2,
				      leak_of_3,      leak_of_4, leak_of_5};

__attribute__((noinline)) static void map_one(void)
{
	char *at = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		abort();
	*at = 1;
}

static void leak_blocks(int who, int count)
{
	for (int i = 0; i < count; i++)
		leak[who]();
}

static void map_mappings(int count)
{
	for (int i = 0; i < count; i++)
		map_one();
}

static pid_t start(int is_grand);

static void work(int number, int from, int to)
{
	int count;

	alarm(LIFETIME_SECONDS);
	while (read(from, &count, sizeof(count)) == sizeof(count)) {
		pid_t pid = 0;

		if (count < 0)
			_exit(0);
		if (!count) /* a child of this one */
			pid = start(0);
		else if (count & MAPS)
			map_mappings((count & ~MAPS) * number);
		else
			leak_blocks(number, count * number);
		if (write(to, &pid, sizeof(pid)) != sizeof(pid))
			break;
	}
	_exit(0);
}

static pid_t ask_worker(int number, int count)
{
	pid_t pid = -1;

	if (write(worker[number - 1].to, &count, sizeof(count)) != sizeof(count) ||
	    read(worker[number - 1].from, &pid, sizeof(pid)) != sizeof(pid))
		return -1;
	return pid;
}

/* The pipes of all workers are there from the beginning, also where a worker forks one. */
static pid_t start(int is_grand)
{
	static int ends[WORKERS][4];
	pid_t pid;

	if (!ends[0][0])
		for (int i = 0; i < WORKERS; i++) {
			if (pipe(ends[i]) || pipe(ends[i] + 2))
				return -1;
			worker[i].to = ends[i][1];
			worker[i].from = ends[i][2];
		}
	if (is_grand) {
		pid = ask_worker(1, 0);
		workers++;
		return pid;
	}
	int number = ++workers;
	pid = fork();
	if (pid == 0)
		work(number, ends[number - 1][0], ends[number - 1][3]);
	return pid;
}

static pid_t start_other(int executes)
{
	pid_t pid = 0;

	if (executes) {
		pid = fork();
		if (pid == 0) {
			alarm(LIFETIME_SECONDS);
			execl("/bin/sleep", "sleep", "100", NULL);
			_exit(1);
		}
		return pid;
	}
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static int leak_all(int count)
{
	int is_right = 1;

	if (count & MAPS)
		map_mappings(count & ~MAPS);
	else
		leak_blocks(0, count);
	for (int i = 1; i <= workers; i++)
		is_right &= ask_worker(i, count) == 0;
	return is_right;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	const int none = -1;

	signal(SIGPIPE, SIG_IGN);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "fork") || !strcmp(command, "grand"))
			target_say("%d\n", (int)start(command[0] == 'g'));
		else if (!strcmp(command, "exec") || !strcmp(command, "brief"))
			target_say("%d\n", (int)start_other(command[0] == 'e'));
		else if (!strcmp(command, "end"))
			target_say("%s\n", write(worker[0].to, &none, sizeof(none)) > 0 ? "done"
											: "failed");
		else if (!strncmp(command, "map ", 4))
			target_say("%s\n", leak_all(atoi(command + 4) | MAPS) ? "done" : "failed");
		else
			target_say("%s\n", leak_all(atoi(command + 5)) ? "done" : "failed");
	}
	return 0;
}
