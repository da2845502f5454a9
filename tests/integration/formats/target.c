/* SPDX-License-Identifier: MIT */
/* target.c - keeps blocks of three sizes from three functions; "grow" keeps everything, "churn" frees half of it again. */
#include "../target.h"

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

__attribute__((noinline)) static void serve(int i)
{
	keep_small();
	keep_medium();
	if (i % 100 == 0)
		keep_large();
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

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		for (int i = 0; i < BLOCKS / 3; i++)
			serve(i);
		if (strcmp(command, "churn") == 0)
			drop_half();
		target_say("done\n");
	}
	return 0;
}
