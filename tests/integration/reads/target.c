/* SPDX-License-Identifier: MIT */
/*
 * target.c - keeps blocks of three sizes from three functions in two threads and frees half of them
 * again: once, if its argument says so, or for each command, of which "grow" keeps everything.
 */
#include "../target.h"

#include <pthread.h>

#define BLOCKS 3000

static void *kept[3 * BLOCKS];
static size_t kept_count;

__attribute__((noinline)) static void *keep_small(void)
{
	return kept[kept_count++] = malloc(2000);
}

__attribute__((noinline)) static void *keep_medium(void)
{
	return kept[kept_count++] = malloc(20000);
}

__attribute__((noinline)) static void *keep_large(void)
{
	return kept[kept_count++] = malloc(400000);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	for (int i = 0; i < BLOCKS / 3; i++)
		keep_small();
	return NULL;
}

static void serve(void)
{
	pthread_t worker;

	if (pthread_create(&worker, NULL, work, NULL) == 0)
		pthread_join(worker, NULL);
	for (int i = 0; i < BLOCKS / 3; i++) {
		keep_medium();
		if (i % 100 == 0)
			keep_large();
	}
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

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];

	if (argc > 1 && strcmp(argv[1], "once") == 0) {
		serve();
		drop_half();
		return 0;
	}
	target_say("ready\n");
	while (target_read(command)) {
		serve();
		if (strcmp(command, "grow") != 0)
			drop_half();
		target_say("done\n");
	}
	return 0;
}
