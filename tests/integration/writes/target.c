/* SPDX-License-Identifier: MIT */
/*
 * target.c - keeps blocks by recursion, by an inlined function and by a thread; frees half of them
 * again, at once or at the end of the round.
 */
#include "../target.h"

#include <pthread.h>

#define BLOCKS 2000

static void *kept[4 * BLOCKS];
static size_t kept_count;

static inline __attribute__((always_inline)) void *inlined(size_t size)
{
	return malloc(size);
}

__attribute__((noinline)) static void keep_medium(void)
{
	kept[kept_count++] = inlined(20000);
}

__attribute__((noinline)) static void descend(int depth)
{
	if (depth > 0)
		descend(depth - 1);
	else
		keep_medium();
	__asm__ volatile("");
}

__attribute__((noinline)) static void churn(void)
{
	void *block = malloc(3000);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

static void *serve(void *argument)
{
	for (int i = 0; i < BLOCKS / 4; i++) {
		kept[kept_count++] = malloc(500);
		churn();
	}
	return argument;
}

static void drop_half(void)
{
	size_t left = 0;

	for (size_t i = 0; i < kept_count; i++) {
		if (i % 2)
			free(kept[i]);
		else
			kept[left++] = kept[i];
	}
	kept_count = left;
}

static void go_round(void)
{
	pthread_t thread;

	for (int i = 0; i < BLOCKS / 4; i++)
		descend(i % 7);
	if (pthread_create(&thread, NULL, serve, NULL) == 0)
		pthread_join(thread, NULL);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		kept_count = 0; /* what an earlier round has kept is lost, as in any leak */
		go_round();
		if (strcmp(command, "half") == 0)
			drop_half();
		target_say("done\n");
	}
	return 0;
}
