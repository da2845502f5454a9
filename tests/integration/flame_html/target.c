/* SPDX-License-Identifier: MIT */
/*
 * target.c - keeps blocks from a few functions with several callers. "first" and "second" have a
 * function each that the other lacks; "second" keeps more by keep_medium and less by keep_small.
 */
#include "../target.h"

#define ROUNDS 600

__attribute__((noinline)) static void *keep_small(void)
{
	return malloc(3000);
}

__attribute__((noinline)) static void *keep_medium(void)
{
	return malloc(20000);
}

/* A few samples, so that what may hide between them counts in its interval. */
__attribute__((noinline)) static void *keep_seldom(void)
{
	return malloc(60000);
}

__attribute__((noinline)) static void *only_first(void)
{
	return malloc(50000);
}

__attribute__((noinline)) static void *only_second(void)
{
	return malloc(60000);
}

static void *last;

__attribute__((noinline)) static void parse(int small, int medium)
{
	for (int i = 0; i < small; i++)
		last = keep_small();
	for (int i = 0; i < medium; i++)
		last = keep_medium();
}

__attribute__((noinline)) static void serve(int depth, int medium)
{
	if (depth > 0)
		serve(depth - 1, medium);
	else
		parse(4, medium);
	last = keep_small();
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		const int is_second = strcmp(command, "second") == 0;

		for (int i = 0; i < ROUNDS; i++) {
			parse(is_second ? 1 : 10, 1);
			serve(2, is_second ? 4 : 1);
			last = is_second ? only_second() : only_first();
			if (i % 50 == 0)
				last = keep_seldom();
			free(malloc(5000));
		}
		target_say("done\n");
	}
	return 0;
}
