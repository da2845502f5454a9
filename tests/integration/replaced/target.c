/* SPDX-License-Identifier: MIT */
/* Keeps a block each millisecond, in a function KEEP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef KEEP
#define KEEP kept_by_old
#endif
#define BLOCK_BYTES 500

static char *last;

static __attribute__((noinline)) void KEEP(void)
{
	char *block = malloc(BLOCK_BYTES);

	if (!block)
		abort();
	memset(block, 1, BLOCK_BYTES);
	memcpy(block, &last, sizeof(last));
	last = block;
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	puts("ready");
	fflush(stdout);
	for (;;) {
		KEEP();
		nanosleep(&pause, NULL);
	}
}
