// SPDX-License-Identifier: MIT
// Threads that have ended leave a stack behind that the C library keeps, and blocks of theirs.
// want: direct in_thread 1760 8
#include <pthread.h>

#include "leaky.h"

static __thread void *own;
static pthread_key_t key[40];

static APART void in_thread(void)
{
	own = used(malloc(220));
}

static void *end_soon(void *argument)
{
	in_thread();
	pthread_setspecific(key[39], used(malloc(1)));
	free(pthread_getspecific(key[39]));
	pthread_setspecific(key[39], NULL);
	wipe();
	return argument;
}

int main(void)
{
	for (int i = 0; i < 40; i++)
		pthread_key_create(&key[i], NULL);
	for (int i = 0; i < 8; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, end_soon, NULL);
		pthread_join(thread, NULL);
	}
	wipe();
	return 0;
}
