/* SPDX-License-Identifier: MIT */
/*
 * untouched_leaks/target.c KIND - works with blocks of 64 KB, of each of which one page is touched,
 * until it is ended. "ready" comes before.
 *
 * leak: keeps each. both: keeps small blocks, too. replace: holds 1000, and replaces the oldest.
 */
#include <time.h>

#include "../target.h"

#define BLOCK_BYTES 65536u
#define SMALL_BYTES 100u
#define BLOCKS 1000u
#define PAUSE_NS 20000000

static void *held[BLOCKS], *volatile last;

__attribute__((noinline)) static void *take_block(void)
{
	char *block = malloc(BLOCK_BYTES);

	if (!block)
		abort();
	block[BLOCK_BYTES / 2] = 1;
	return last = block;
}

__attribute__((noinline)) static void leak_block(void)
{
	last = take_block();
}

__attribute__((noinline)) static void leak_small(void)
{
	for (int i = 0; i < 10; i++) {
		void **block = malloc(SMALL_BYTES);

		if (!block)
			abort();
		*block = last;
		last = block;
	}
}

__attribute__((noinline)) static void replace_block(size_t at)
{
	free(held[at]);
	held[at] = take_block();
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const char *kind = argc > 1 ? argv[1] : "";

	if (strcmp(kind, "replace") == 0)
		for (size_t i = 0; i < BLOCKS; i++)
			held[i] = take_block();
	target_say("ready\n");
	for (size_t i = 0;; i++) {
		if (strcmp(kind, "replace") == 0)
			replace_block(i % BLOCKS);
		else
			leak_block();
		if (strcmp(kind, "both") == 0)
			leak_small();
		nanosleep(&pause, NULL);
	}
}
