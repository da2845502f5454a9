/* SPDX-License-Identifier: MIT */
/*
 * Allocates and frees as it is told: "first N", "second N" allocate N blocks of a thousand bytes in
 * a function of that name, "free N" frees the N oldest.
 */
#include "../target.h"

#define SIZE 1000
#define BLOCKS (1 << 20)

static void *volatile block[BLOCKS];
static int count, gone;

__attribute__((noinline)) static void first(void)
{
	block[count] = malloc(SIZE);
	count++;
}

__attribute__((noinline)) static void second(void)
{
	block[count] = malloc(SIZE);
	count++;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		/* nothing that allocates, as the C library may do for formats */
		const char *space = strchr(command, ' ');
		int number = space ? atoi(space + 1) : 0;

		for (; number > 0; number--) {
			if (command[0] == 'f' && command[1] == 'i' && count < BLOCKS)
				first();
			else if (command[0] == 's' && count < BLOCKS)
				second();
			else if (command[0] == 'f' && command[1] == 'r' && gone < count)
				free(block[gone++]);
		}
		(void)!write(STDOUT_FILENO, "done\n", sizeof("done\n") - 1);
	}
	return 0;
}
