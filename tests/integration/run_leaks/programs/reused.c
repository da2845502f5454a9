// SPDX-License-Identifier: MIT
// Blocks that were free before, and are not written to, have malloc's links to the chunks that
// were free with them: each begins in the last word of a block that is lost.
// want: direct lose 7200 300
#include <pthread.h>

#include "leaky.h"

#define LOST 75
#define EACH 8

static void *kept[4][LOST * EACH];

static APART void lose(void)
{
	memset(used(malloc(24)), 0, 24);
}

static APART void *make(size_t bytes)
{
	return used(malloc(bytes));
}

// Lost blocks, with so many beside each that are freed, and made again with another size.
static APART void reuse(void **block, int each, size_t bytes, size_t bytes_again)
{
	for (int i = 0; i < LOST; i++) {
		lose();
		for (int j = 0; j < each; j++)
			block[i * each + j] = make(bytes);
	}
	for (int i = 0; i < LOST * each; i++)
		free(block[i]);
	for (int i = 0; i < LOST * each; i++)
		block[i] = make(bytes_again);
}

static void *in_thread(void *argument)
{
	reuse(kept[3], 1, 1200, 1200);
	wipe();
	return argument;
}

int main(void)
{
	pthread_t thread;

	reuse(kept[0], 1, 1200, 1200);
	reuse(kept[1], EACH, 40, 88);
	reuse(kept[2], EACH, 1200, 2400);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	used(kept);
	wipe();
	return 0;
}
