/* SPDX-License-Identifier: MIT */
/* libseeded.c - the plug-in of plugin.c. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *answer[40];

__attribute__((noinline)) static void *seeded_leak(void)
{
	return memset(malloc(400), 1, 400);
}

void seeded_handle(long number, bool leaks)
{
	if (!leaks)
		free(answer[number % 40]);
	answer[number % 40] = seeded_leak();
}
