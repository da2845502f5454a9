/* SPDX-License-Identifier: MIT */
/*
 * sharers/target.c - a process that allocates, and two in the same memory, which sleep most of the
 * time, and live on without it.
 */
#include "../../sharer.h"

#include <stdio.h>

#define SHARERS 2
#define LIFETIME_SECONDS 250

static int sleep_often(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, 0);
	alarm(LIFETIME_SECONDS);
	for (;; usleep(1000))
		free(malloc(100));
}

int main(void)
{
	static struct sharer_place place[SHARERS];
	pid_t sharer[SHARERS];

	sharer_be_threaded();
	for (int i = 0; i < SHARERS; i++) {
		sharer[i] = sharer_start(&place[i], sleep_often, NULL);
		if (sharer[i] < 0)
			return 1;
	}
	printf("%d %d\n", sharer[0], sharer[1]);
	fflush(stdout);
	for (;; usleep(1000))
		free(malloc(1000));
}
