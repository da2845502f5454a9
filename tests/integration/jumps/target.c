/* SPDX-License-Identifier: MIT */
/*
 * Leaves hooks without returning from them. Argument jump: a timer interrupts threads that
 * allocate, and the handler jumps out by siglongjmp, but only where it interrupted code of
 * heapinject's mapping, so that the allocator itself stays whole. Argument cancel: threads that
 * allocate are cancelled, asynchronously, and others take their place; they use blocks of one small
 * size, which glibc serves from a cache of the thread's own, without a lock. Commands: look =
 * learns where that mapping is; answers whether there is one. check = answers "right" once every
 * thread has come round.
 */
#include "../interrupted.h"
#include "../target.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <ucontext.h>

#define THREADS 4
#define CHECK_ROUNDS 20

static atomic_ulong rounds[THREADS], jumps;
static __thread sigjmp_buf way_out;
static __thread volatile int may_jump;

static void jump_out(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	if (may_jump && is_in_their_code(context)) {
		jumps++;
		siglongjmp(way_out, 1);
	}
}

static void *allocate_and_be_interrupted(void *number)
{
	const size_t me = (size_t)number;

	start_timer();
	for (;;) {
		if (sigsetjmp(way_out, 1) == 0) {
			may_jump = 1;
			for (int i = 0; i < 100; i++) {
				unsigned char *volatile block = malloc(500);

				block[499] = 1;
				free(block);
			}
		}
		may_jump = 0;
		rounds[me]++;
	}
	return NULL;
}

static void *allocate_until_cancelled(void *unused)
{
	for (unsigned long i = 0;; i++) {
		unsigned char *volatile block = malloc(64);

		block[63] = 1;
		free(block);
		if (i == 0) /* the cache is set up */
			pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	}
	return unused;
}

static void *cancel_and_replace(void *number)
{
	const size_t me = (size_t)number;

	for (;; rounds[me]++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, allocate_until_cancelled, NULL))
			abort();
		nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	return NULL;
}

static const char *check(void)
{
	for (size_t i = 0; i < THREADS; i++) {
		const unsigned long before = rounds[i];

		for (int wait = 0; rounds[i] < before + CHECK_ROUNDS; wait++) {
			if (wait == TARGET_PATIENCE_MS)
				return "a thread hangs";
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
	}
	return "right";
}

int main(int argc, char **argv)
{
	void *(*work)(void *) = argc > 1 && strcmp(argv[1], "cancel") == 0
					? cancel_and_replace
					: allocate_and_be_interrupted;
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	on_timer(jump_out);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "look") == 0)
			target_say("%s\n", find_their_code() ? "found" : "nothing");
		else
			target_say("%s after %lu jumps\n", check(), atomic_load(&jumps));
	}
	return 0;
}
