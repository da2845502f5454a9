/* SPDX-License-Identifier: MIT */
/* Allocates and frees, and keeps a little. */
#include <pthread.h>

#include "../target.h"

static void *work(void *unused)
{
	for (;;) {
		void *block = malloc(1000);
		*(volatile char *)block = 1;
		free(block);
		usleep(100);
	}
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command))
		;
	return 0;
}
