/* SPDX-License-Identifier: MIT */
/* Keeps a hundred blocks of a thousand bytes each time that it is told to. */
#include "../target.h"

#define SIZE 1000

static void *volatile last;

__attribute__((noinline)) static void hoard(void)
{
	last = malloc(SIZE);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		for (int i = 0; i < 100; i++)
			hoard();
		(void)!write(STDOUT_FILENO, "done\n", sizeof("done\n") - 1);
	}
	return 0;
}
