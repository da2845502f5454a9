/* SPDX-License-Identifier: MIT */
/*
 * shelves.c - a program for either CPU, of which profiles are taken: it keeps what it allocates, in
 * an inlined function, in one that calls itself, and through a library.
 */
#include <stdlib.h>
#include <string.h>

static void *kept[100];
static size_t count;

static inline void *shelve(size_t size)
{
	void *volatile block = malloc(size);

	kept[count++] = block;
	return block;
}

__attribute__((noinline)) void take_shelf(int depth)
{
	if (depth)
		take_shelf(depth - 1);
	memset(shelve(1000), 0, 1000);
}

static int copy_one(const void *left, const void *right)
{
	kept[count++] = strdup("a copy");
	return memcmp(left, right, sizeof(int));
}

int main(void)
{
	int numbers[] = {2, 1};

	take_shelf(9);
	qsort(numbers, 2, sizeof(numbers[0]), copy_one);
	for (int i = 0; i < 20; i++)
		free(shelve(64));
	return 0;
}
