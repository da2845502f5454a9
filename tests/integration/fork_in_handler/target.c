/* SPDX-License-Identifier: MIT */
/*
 * One thread allocates; a timer interrupts it, and the handler forks where it interrupted
 * heapinject's code. The child goes on from there: through the rest of the hook, then it allocates,
 * checks its blocks, and exits 0. Commands: look = learns where that code is; answers whether there
 * is any. check = how many children there were, and whether one ended badly.
 */
#include "../interrupted.h"
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define BLOCKS 50

static atomic_ulong rounds, children, damaged;
static atomic_int bad_status;
/*
 * once a block: the next interrupt may come before the next instruction, and nobody would ever get
 * on
 */
static volatile int is_child, may_fork;

/* The other thread of this process waits in read, and holds no lock. */
static void fork_here(int signal, siginfo_t *info, void *context)
{
	int status = -1;
	pid_t pid;

	(void)signal, (void)info;
	if (is_child || !may_fork || !is_in_their_code(context))
		return;
	may_fork = 0;
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0) {
		is_child = 1;
		alarm(20); /* a child that hangs is no success */
		return;
	}
	children++;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		bad_status = status;
}

static void allocate_and_check(void)
{
	static unsigned char *volatile blocks[BLOCKS];

	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned char *block;

		may_fork = 1;
		block = malloc(100 + i);
		memset(block, (int)i, 100 + i);
		blocks[i] = realloc(block, 300 + i);
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (blocks[i][0] != i || blocks[i][99 + i] != i)
			damaged++;
		free(blocks[i]);
	}
}

static void *allocate(void *unused)
{
	start_timer();
	for (;; rounds++) {
		allocate_and_check();
		if (!is_child)
			continue;
		allocate_and_check();
		_exit(damaged != 0);
	}
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	on_timer(fork_here);
	pthread_create(&thread, NULL, allocate, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "look") == 0)
			target_say("%s\n", find_their_code() ? "found" : "nothing");
		else if (bad_status || damaged)
			target_say("a child ended with wait status 0x%x, %lu blocks were damaged\n",
				   (unsigned)bad_status, atomic_load(&damaged));
		else
			target_say("right after %lu children\n", atomic_load(&children));
	}
	return 0;
}
