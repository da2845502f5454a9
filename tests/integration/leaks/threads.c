/* SPDX-License-Identifier: MIT */
/*
 * threads.c - each of many short-lived threads makes itself a context; in the leaking program
 * nobody frees it when the thread has ended.
 */
#include <pthread.h>

#include "seeded.h"

static SEEDED_SITE void *seeded_leak(void)
{
	return memset(malloc(3000), 1, 3000);
}

static void *work(void *leaks)
{
	void *context = seeded_leak();

	if (!leaks)
		free(context);
	return NULL;
}

static void step(int64_t ms, bool leaks)
{
	pthread_t thread;

	if (ms % 5 == 0 && pthread_create(&thread, NULL, work, leaks ? &thread : NULL) == 0)
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
