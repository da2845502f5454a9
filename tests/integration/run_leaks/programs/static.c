// SPDX-License-Identifier: MIT
// A program without a dynamic linker, with thread-local storage and threads that have ended.
// want: direct lose 58 1, indirect hang 59 1
// lsan: it is not linked into static programs
// flags: -static
#include <pthread.h>

#include "leaky.h"

static __thread void *own;
static void *global;

static APART void keep(void)
{
	own = used(malloc(56));
	global = used(malloc(57));
}

static APART void *hang(void)
{
	return used(malloc(59));
}

static APART void lose(void)
{
	void **block = used(calloc(1, 58));

	block[0] = hang();
	used(block);
}

static void *end_soon(void *argument)
{
	free(used(malloc(1000)));
	return argument;
}

int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, end_soon, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	keep();
	lose();
	used(&own);
	used(&global);
	wipe();
	return 0;
}
