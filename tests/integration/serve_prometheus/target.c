/* SPDX-License-Identifier: MIT */
/*
 * keep: a thousand blocks of 1000 bytes stay, by keeps_small(), and a hundred of 5000 by
 * keeps_large(); as many more are freed. more: the large ones again.
 */
#include "../target.h"

#define NOINLINE __attribute__((noinline))

static void *volatile last;

NOINLINE static void keeps_small(void)
{
	last = malloc(1000);
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void keeps_large(void)
{
	last = malloc(5000);
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void keeps_nothing(void)
{
	last = malloc(2000);
	free(last);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		for (int i = 0; i < 1000 && !strcmp(command, "keep"); i++) {
			keeps_small();
			keeps_nothing();
		}
		for (int i = 0; i < 100; i++)
			keeps_large();
		/* the C library allocates for what it formats */
		(void)!write(STDOUT_FILENO, "done\n", sizeof("done\n") - 1);
	}
	return 0;
}
