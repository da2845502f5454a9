// SPDX-License-Identifier: MIT
// exit() is called by another thread than the first, which waits for it with a block of its own.
// want: direct lose 44 1
#include <pthread.h>

#include "leaky.h"

static APART void *make(size_t bytes)
{
	return used(malloc(bytes));
}

static APART void lose(void)
{
	used(malloc(44));
}

static void *leave(void *argument)
{
	void *volatile here = make(46);

	lose();
	wipe();
	exit(here == argument);
}

int main(void)
{
	void *volatile in_main = make(45);
	pthread_t thread;

	pthread_create(&thread, NULL, leave, NULL);
	pthread_join(thread, NULL);
	return in_main == NULL;
}
