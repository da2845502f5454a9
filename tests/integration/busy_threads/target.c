/* SPDX-License-Identifier: MIT */
/* More threads than CPUs, none of which ever makes a system call. */
#include <pthread.h>

#include "../target.h"

#define THREADS 12

static void *work(void *unused)
{
	for (;;) {
		void *block = malloc(1000);
		*(volatile char *)block = 1;
		free(block);
	}
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command))
		;
	return 0;
}
