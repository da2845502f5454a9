/* SPDX-License-Identifier: MIT */
/*
 * gap_target.c - what tests/torture/gap attaches to: `storm N`, N threads that do nothing but
 * allocate and free; or `asleep N`, N threads that wake twenty times a second for a few blocks.
 * Prints `ready`, ends with its standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 256 };

static long pause_ns;

static void *work(void *argument)
{
	const struct timespec pause = {.tv_nsec = pause_ns};
	void *block[BLOCKS] = {0};
	unsigned seed = (unsigned)(size_t)argument * 2654435761u + 1;

	for (unsigned turn = 0;; turn++) {
		const unsigned at = (seed = seed * 1664525u + 1013904223u) >> 24;

		free(block[at]);
		block[at] = malloc(16 + (seed >> 8) % 2000);
		if (block[at])
			memset(block[at], 1, 16);
		if (pause_ns && turn % 64 == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char byte;

	if (argc != 3)
		return 2;
	pause_ns = strcmp(argv[1], "asleep") == 0 ? 50000000 : 0;
	for (long i = 0; i < atol(argv[2]); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)i))
			return 1;
		pthread_detach(thread);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
