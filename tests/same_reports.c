/* SPDX-License-Identifier: MIT */
/*
 * same_reports.c - allocates on several stacks, frees some of it, and leaks the rest, for
 * tests/same_reports to record.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELD 256

__attribute__((noinline)) static void *allocate(size_t bytes)
{
	return memset(malloc(bytes), 1, bytes);
}

__attribute__((noinline)) static void leak(unsigned int round)
{
	*(void *volatile *)allocate(100 + round % 7) = NULL;
}

__attribute__((noinline)) static void *hold(unsigned int round)
{
	return allocate(16u << round % 10);
}

int main(void)
{
	static void *held[HELD];

	for (unsigned int round = 0;; round++) {
		void **const place = &held[round * 31 % HELD];

		free(*place);
		*place = hold(round);
		leak(round);
		if (round % 50 == 0)
			usleep(1000);
	}
}
