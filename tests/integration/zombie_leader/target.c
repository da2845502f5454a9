/* SPDX-License-Identifier: MIT */
/*
 * The first thread ends at once, or when told to; another allocates, and keeps copies of free's
 * address while told to.
 */
#include <pthread.h>

#include "../target.h"

static pthread_t first;
static volatile int to_end;

static void *work(void *copies)
{
	for (unsigned i = 0;; i++) {
		void *block = malloc(1000);
		void (**copy)(void *) = copies;
		copy[i % 64] = free;
		copy[(i + 32) % 64](block);
		usleep(100);
	}
	return copies;
}

static void *answer(void *unused)
{
	char command[TARGET_COMMAND_MAX];
	target_say("ready\n");
	while (target_read(command)) {
		to_end = 1;
		pthread_join(first, NULL);
		target_say("the first thread has ended\n");
	}
	exit(0);
	return unused;
}

int main(int argc, char **argv)
{
	static void (*copies[64])(void *);
	pthread_t thread;
	for (int i = 0; i < 64; i++)
		copies[i] = free;
	first = pthread_self();
	pthread_create(&thread, NULL, work, copies);
	pthread_create(&thread, NULL, answer, NULL);
	while (argc < 2 && !to_end)
		usleep(1000);
	(void)argv;
	pthread_exit(NULL);
}
