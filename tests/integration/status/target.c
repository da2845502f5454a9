/* SPDX-License-Identifier: MIT */
/* Keeps a thousand blocks of a thousand bytes, of twice as many that it allocates, when told to. */
#include "../target.h"

#define SIZE 1000

static void *volatile block[1000];

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		for (int i = 0; i < 1000; i++) {
			block[i] = malloc(SIZE);
			free(block[i]);
			block[i] = malloc(SIZE);
		}
		/* the C library allocates for what it formats */
		(void)!write(STDOUT_FILENO, "done\n", sizeof("done\n") - 1);
	}
	return 0;
}
