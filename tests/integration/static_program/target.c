// SPDX-License-Identifier: MIT
// Keeps blocks all the time, through a call that is inlined.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void **kept;

static inline __attribute__((always_inline)) void **block_of(size_t size)
{
	return malloc(size); // mark: inlined
}

static __attribute__((noinline)) void keep_block(void)
{
	void **block = block_of(1000); // mark: kept

	*block = kept;
	kept = block;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		keep_block();
		free(malloc(100));
		usleep(100);
	}
}
