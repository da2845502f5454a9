/* SPDX-License-Identifier: MIT */
/*
 * pool.c - a pool of objects that takes a chunk from the allocator when it has none free, and gives
 * chunks back as the load goes down. In the leaking program what is given back is not found again.
 */
#include "seeded.h"

#define CHUNKS 4000

static void *chunk[CHUNKS];
static size_t used, kept;

static SEEDED_SITE void *seeded_leak(void)
{
	return memset(malloc(4096), 1, 100);
}

/* Waves of half a second. */
static void step(int64_t ms, bool leaks)
{
	const size_t wanted = (size_t)(ms % 500 < 250 ? ms % 250 : 250 - ms % 250);

	while (used < wanted && kept < CHUNKS)
		chunk[kept + used++] = seeded_leak();
	while (used > wanted) {
		used--;
		if (!leaks)
			free(chunk[kept + used]);
		else if (used % 4 == 0)
			kept++;
		else
			free(chunk[kept + used]);
	}
}

int main(int argc, char **argv)
{
	return seeded_run(argc, argv, step);
}
