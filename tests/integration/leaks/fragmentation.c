/* SPDX-License-Identifier: MIT */
/*
 * fragmentation.c - small blocks between large ones. The large ones are freed, and the small ones
 * keep the heap from shrinking: in the healthy program for a while, in the leaking one for ever.
 */
#include "seeded.h"

static SEEDED_SITE void *seeded_leak(void)
{
	return memset(malloc(320), 1, 320);
}

static SEEDED_SITE void *large_block(void)
{
	return memset(malloc(6000), 1, 100);
}

static void step(int64_t ms, bool leaks)
{
	static void *large[50], *pin[50];
	const int64_t at = ms % 50;

	free(large[at]);
	if (!leaks)
		free(pin[at]);
	large[at] = large_block();
	pin[at] = seeded_leak();
}

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
