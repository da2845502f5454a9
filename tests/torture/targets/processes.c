/* SPDX-License-Identifier: MIT */
/*
 * processes KIND - three threads that start child processes without a pause, by fork, vfork, spawn
 * (posix_spawn) or exec (fork, then execve). Every child allocates, finds the blocks it inherited
 * intact, and ends with a status of its own that its parent expects. `processes child STATUS` is
 * what the executed children are.
 */
#include "selfcheck.h"

#include <spawn.h>
#include <sys/wait.h>

#define BLOCKS 32
#define THREADS 3
#define CHILD_IS_DAMAGED 255

extern char **environ;

static void use_blocks(struct self_worker *worker, struct self_block *blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		self_block_renew(worker, &blocks[i], 1 + self_random(worker) % 3000);
}

static int child_status(int status)
{
	if (!self.is_wrong)
		return status;
	dprintf(STDERR_FILENO, "in a child: %s\n", self.reason);
	return CHILD_IS_DAMAGED;
}

static pid_t start_by_fork(struct self_worker *worker, struct self_block *blocks, int status)
{
	const pid_t pid = fork();

	if (pid == 0) {
		use_blocks(worker, blocks);
		_exit(child_status(status));
	}
	return pid;
}

/* The child runs in the parent's memory, while the parent's thread waits. */
static pid_t start_by_vfork(struct self_worker *worker, struct self_block *blocks, int status)
{
	const pid_t pid = vfork();

	if (pid == 0) {
		use_blocks(worker, blocks);
		_exit(status);
	}
	return pid;
}

static char **child_arguments(char text[8], int status)
{
	static __thread char *arguments[4];

	snprintf(text, 8, "%d", status);
	arguments[0] = "processes";
	arguments[1] = "child";
	arguments[2] = text;
	return arguments;
}

static pid_t start_by_spawn(struct self_worker *worker, struct self_block *blocks, int status)
{
	char text[8];
	pid_t pid = -1;

	use_blocks(worker, blocks);
	SELF_CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child_arguments(text, status),
			       environ) == 0);
	return pid;
}

static pid_t start_by_exec(struct self_worker *worker, struct self_block *blocks, int status)
{
	char text[8], **arguments = child_arguments(text, status);
	const pid_t pid = fork();

	if (pid == 0) {
		use_blocks(worker, blocks);
		if (!self.is_wrong)
			execve("/proc/self/exe", arguments, environ);
		_exit(child_status(CHILD_IS_DAMAGED - 1));
	}
	return pid;
}

static const struct kind {
	const char *name;
	pid_t (*start)(struct self_worker *, struct self_block *, int status);
} kinds[] = {{"fork", start_by_fork},
	     {"vfork", start_by_vfork},
	     {"spawn", start_by_spawn},
	     {"exec", start_by_exec}};

static void wait_for(pid_t pid, int status)
{
	int got;

	while (waitpid(pid, &got, 0) != pid) {
		if (errno != EINTR) {
			self_wrong("waitpid: errno %d", errno);
			return;
		}
		self_eintr(1);
	}
	if (!WIFEXITED(got) || WEXITSTATUS(got) != status)
		self_wrong("a child ended with wait status %#x, not exit status %d", (unsigned)got,
			   status);
}

static void *start_processes(void *data)
{
	const struct kind *kind = data;
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	use_blocks(worker, blocks);
	for (int status = 0; !self_is_stopping(); status = (status + 1) % 100) {
		const pid_t pid = kind->start(worker, blocks, status);

		if (pid < 0) {
			self_wrong("%s: errno %d", kind->name, errno);
			break;
		}
		wait_for(pid, status);
		for (int i = 0; i < BLOCKS; i++)
			self_block_check(&blocks[i]);
		self_step(worker);
	}
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
	return NULL;
}

static int be_child(int status)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	use_blocks(worker, blocks);
	use_blocks(worker, blocks);
	return child_status(status);
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;

	if (argc == 3 && strcmp(argv[1], "child") == 0)
		return be_child(atoi(argv[2]));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc == 2 && strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (!kind)
		return 2;
	return self_run(THREADS, start_processes, (void *)(uintptr_t)kind);
}
