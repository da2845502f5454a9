// SPDX-License-Identifier: MIT
// The first thread ends before the others, with pthread_exit(), and its stack with it.
// want: direct lose 49 1
// lsan: it fails a check of its own when the first thread ends alone
#include <pthread.h>

#include "leaky.h"

static void *global;

static APART void keep(void)
{
	global = used(malloc(48));
}

static APART void lose(void)
{
	used(malloc(49));
}

static void *last(void *first)
{
	pthread_join((pthread_t)first, NULL);
	lose();
	wipe();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	keep();
	used(&global);
	pthread_create(&thread, NULL, last, (void *)pthread_self());
	wipe();
	pthread_exit(NULL);
}
