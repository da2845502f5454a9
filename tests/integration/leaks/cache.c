/* SPDX-License-Identifier: MIT */
/*
 * cache.c - a cache with a bound, which is full after half a second: then each new entry takes the
 * place of another, and the leaking one keeps that as well.
 */
#include "seeded.h"

#define ENTRIES 1000

static SEEDED_SITE void *seeded_leak(void)
{
	return memset(malloc(512), 1, 512);
}

static void step(int64_t ms, bool leaks)
{
	static void *entry[ENTRIES];
	static size_t count;

	(void)ms;
	for (int i = 0; i < 2; i++) {
		void **at = &entry[count < ENTRIES ? count++ : seeded_random(ENTRIES)];

		if (!leaks)
			free(*at);
		*at = seeded_leak();
	}
}

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
