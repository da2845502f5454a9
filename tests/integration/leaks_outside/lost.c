/* SPDX-License-Identifier: MIT */
/* lost.c - loses blocks of many sizes, each right after it was given, and waits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZES 20u

static __attribute__((noinline)) void lose(size_t size)
{
	memset(malloc(size), 1, size);
}

static __attribute__((noinline)) void wipe(void)
{
	volatile uint8_t room[16 << 10];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	for (size_t i = 1; i <= SIZES; i++)
		lose(48 * i);
	wipe();
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
