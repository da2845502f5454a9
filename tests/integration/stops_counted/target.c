/* SPDX-License-Identifier: MIT */
/* Threads that allocate, and threads that sleep. */
#include "../target.h"

#include <pthread.h>

static void *allocate(void *sleeps)
{
	for (;;) {
		free(malloc(100));
		if (sleeps)
			usleep(20000);
	}
	return NULL;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		pthread_create(&thread, NULL, allocate, i < 2 ? NULL : command);
	target_say("ready\n");
	while (target_read(command))
		;
	return 0;
}
