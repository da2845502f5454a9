/* SPDX-License-Identifier: MIT */
/*
 * A process that holds and leaks blocks: some when it starts, as many for each line that it reads,
 * which it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST 2000
#define HELD 1000

static void *volatile held[1 << 20];
static unsigned held_count;

static __attribute__((noinline)) void lose_session(void)
{
	char *block = malloc(100);

	memset(block, 1, 100);
	*(volatile char *)block = 2;
}

static __attribute__((noinline)) void lose_buffer(void)
{
	char *block = malloc(3000);

	memset(block, 1, 3000);
	*(volatile char *)block = 2;
}

static __attribute__((noinline)) void hold(void)
{
	held[held_count] = memset(malloc(100), 3, 100);
	held_count++;
}

/* So that no stale word on the stack refers to a block. */
static __attribute__((noinline)) void wipe(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	static char line[64], output[64];

	setvbuf(stdout, output, _IOLBF, sizeof(output));
	setvbuf(stdin, NULL, _IONBF, 0);
	do {
		for (unsigned i = 0; i < LOST; i++) {
			lose_session();
			if (i % 10 == 0)
				lose_buffer();
			if (i % 2 == 0)
				hold();
		}
		free(malloc(100));
		free(malloc(3000));
		wipe();
		puts("ready");
	} while (fgets(line, sizeof(line), stdin));
	return 0;
}
