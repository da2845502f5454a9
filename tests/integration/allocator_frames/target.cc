/* SPDX-License-Identifier: MIT */
/* Allocates by each of several functions, and keeps it all, for a profiler that is preloaded. */
#include <cstdlib>
#include <new>

void *kept[4000]; /* not static: the compiler would leave the allocations out */
int count;

extern "C" {

__attribute__((noinline)) void keep_malloc()
{
	for (int i = 0; i < 1000; i++)
		kept[count++] = malloc(300);
}

__attribute__((noinline)) void keep_calloc()
{
	for (int i = 0; i < 1000; i++)
		kept[count++] = calloc(2, 100);
}

__attribute__((noinline)) void keep_new()
{
	for (int i = 0; i < 1000; i++)
		kept[count++] = operator new(700);
}

__attribute__((noinline)) void keep_realloc()
{
	for (int i = 0; i < 1000; i++)
		kept[count++] = realloc(malloc(10), 500);
}
}

int main()
{
	keep_malloc();
	keep_calloc();
	keep_new();
	keep_realloc();
	return 0;
}
