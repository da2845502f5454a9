// SPDX-License-Identifier: MIT
// Thread-local storage of the first thread and of another one that lives.
// want: direct lose 33 1
#include <pthread.h>

#include "leaky.h"

static __thread void *own, *large[600];
static pthread_key_t key[50];
static int is_ready[2];

static APART void make(void)
{
	own = used(malloc(31));
	large[599] = used(malloc(32));
	used(&own);
	used(&large);
	pthread_setspecific(key[0], malloc(34));
	pthread_setspecific(key[49], malloc(35)); // in a second table
}

static APART void lose(void)
{
	own = used(malloc(33));
	own = NULL;
}

static void *live(void *argument)
{
	make();
	wipe();
	if (write(is_ready[1], "", 1) == 1)
		pause();
	return argument;
}

int main(void)
{
	pthread_t thread;
	char byte;

	if (pipe(is_ready))
		return 1;
	for (int i = 0; i < 50; i++)
		pthread_key_create(&key[i], NULL);
	lose();
	make();
	pthread_create(&thread, NULL, live, NULL);
	wipe();
	return read(is_ready[0], &byte, 1) != 1;
}
