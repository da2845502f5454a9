/* SPDX-License-Identifier: MIT */
/*
 * Threads that allocate by the same stack, a different number of blocks each, and keep them. The
 * third goes by the program's name. Commands: go = allocate, answered with their tids; crowd N = N
 * more threads one after the other, which allocate a block each.
 */
#include "../target.h"

#include <pthread.h>
#include <sys/syscall.h>

enum { BLOCK = 1000, THREADS = 3 };

static struct worker {
	const char *name;
	int blocks, tid;
} workers[THREADS] = {{"alpha", 300, 0}, {"beta/2 \"x\"", 100, 0}, {"", 50, 0}};
static pthread_barrier_t begin, end;

__attribute__((noinline)) static void *keep(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->tid = (int)syscall(SYS_gettid);
	if (*worker->name)
		pthread_setname_np(pthread_self(), worker->name);
	pthread_barrier_wait(&begin);
	for (int i = 0; i < worker->blocks; i++)
		keep(BLOCK);
	pthread_barrier_wait(&end);
	pause();
	return NULL;
}

static void *pass(void *argument)
{
	keep(BLOCK);
	return argument;
}

static int crowd(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, pass, NULL))
			return 0;
		pthread_join(thread, NULL);
	}
	return 1;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, &workers[i]))
			return 1;
	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "crowd ", 6) == 0) {
			target_say(crowd(atoi(command + 6)) ? "crowded\n" : "no thread\n");
			continue;
		}
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		target_say("%d %d %d\n", workers[0].tid, workers[1].tid, workers[2].tid);
	}
	return 0;
}
