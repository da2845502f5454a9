/* SPDX-License-Identifier: MIT */
/*
 * retagged.c - a program that changes the tags of its pointers (libtagging.c): it frees a block by
 * a pointer with another tag than it was given. At SIGUSR1 it keeps 100 blocks of 100 bytes and 50
 * of 60 that it has resized, frees 300 others, and writes a line to the file of its argument; at
 * SIGTERM it ends.
 *
 *     retagged FILE
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "asked.h"

#define KEPT 100
#define RESIZED 50
#define FREED 300
#define TAG_AT 56

static void *kept[KEPT + RESIZED];

static void *with_tag(void *block, unsigned tag)
{
	const uintptr_t address = (uintptr_t)block & ((1ull << TAG_AT) - 1);

	return (void *)(address | (uintptr_t)tag << TAG_AT);
}

__attribute__((noinline)) static void allocate(void)
{
	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = take(100);
	for (unsigned i = 0; i < RESIZED; i++)
		kept[KEPT + i] = realloc(with_tag(take(50), i % 16), 60);
	for (unsigned i = 0; i < FREED; i++)
		free(with_tag(take(250), i % 16));
}

int main(int argc, char **argv)
{
	int signal;

	asked_open(argc, argv);
	do {
		fprintf(report, "tagged %d\n", (uintptr_t)kept[0] >> TAG_AT != 0);
		signal = asked_signal();
		if (signal == SIGUSR1)
			allocate();
	} while (signal != SIGTERM);
	return 0;
}
