/* SPDX-License-Identifier: MIT */
/* Allocates all the time, until told how to go. Commands: exit, exec (becomes `sleep 60`). */
#include "../target.h"

#include <pthread.h>
#include <time.h>

static void *allocate(void *unused)
{
	const struct timespec pause = {.tv_nsec = 100000};

	for (;;) {
		void *volatile block = malloc(10000);

		free(block);
		nanosleep(&pause, NULL);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	char command[TARGET_COMMAND_MAX];

	pthread_create(&thread, NULL, allocate, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		target_say("%s\n", command);
		if (strcmp(command, "exec") == 0)
			execlp("sleep", "sleep", "60", (char *)NULL);
		if (strcmp(command, "exit") == 0)
			exit(0);
	}
	return 0;
}
