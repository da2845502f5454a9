// SPDX-License-Identifier: MIT
// The stack of a thread that waits, and what another one has left below its stack pointer.
// want: direct leave_behind 72 1
#include <pthread.h>

#include "leaky.h"

static int is_ready[2];

static APART void *make(void)
{
	return used(malloc(70));
}

static APART void leave_behind(void)
{
	void *volatile here = used(malloc(72));

	here = NULL;
	used((void *)&here);
}

static void *live(void *argument)
{
	void *volatile here = make();

	leave_behind();
	wipe();
	if (write(is_ready[1], "", 1) == 1)
		pause();
	return argument ? argument : here;
}

int main(void)
{
	pthread_t thread;
	char byte;

	if (pipe(is_ready))
		return 1;
	pthread_create(&thread, NULL, live, NULL);
	return read(is_ready[0], &byte, 1) != 1;
}
