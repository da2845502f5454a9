/* SPDX-License-Identifier: MIT */
/* sharers/target.c - a process that allocates, and another one in the same memory, which waits. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Alignas(16) char stack[65536];

static int wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused != NULL;
}

int main(void)
{
	const int child = clone(wait_for_ever, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (child < 0)
		return 1;
	printf("%d\n", child);
	fflush(stdout);
	for (;; usleep(1000))
		free(malloc(1000));
}
