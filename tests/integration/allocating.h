/* SPDX-License-Identifier: MIT */
/*
 * allocating.h - a target that does nothing but allocate and free in several threads, until its
 * script ends.
 */
#ifndef ALLOCATING_H
#define ALLOCATING_H

#include <pthread.h>

#include "target.h"

static inline void allocate_once(void)
{
	void *block = malloc(1000);
	*(volatile char *)block = 1;
	free(block);
}

static inline int run_threads(int threads, void *(*work)(void *))
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command))
		;
	return 0;
}

/* With pauses, so that threads are found that wait. */
static inline void *allocate_now_and_then(void *unused)
{
	for (;;) {
		allocate_once();
		usleep(100);
	}
	return unused;
}

#endif
