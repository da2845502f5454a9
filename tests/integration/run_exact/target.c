// SPDX-License-Identifier: MIT
// Allocates in a constructor, in main and at exit; how much, each by one function.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept[16];

static __attribute__((noinline)) void keep(unsigned number, size_t size)
{
	void *volatile gone = malloc(size);

	kept[number] = malloc(size);
	free(gone);
}

static __attribute__((constructor)) void program_constructor(void)
{
	keep(0, 1001);
}

static void at_exit(void)
{
	keep(2, 1003);
}

static __attribute__((destructor)) void program_destructor(void)
{
	keep(3, 1004);
}

int main(void)
{
	atexit(at_exit);
	keep(1, 1002);
	return 0;
}
