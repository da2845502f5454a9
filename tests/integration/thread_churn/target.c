/* SPDX-License-Identifier: MIT */
/*
 * Three threads start four more each, over and over, with stacks of six sizes, so that the
 * addresses of one stack are soon part of another. Each short-lived thread allocates, checks, frees
 * and ends. Command: any = answers how many there were, and the errors.
 */
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>

#define BLOCKS 50
#define BROOD 4

static atomic_ulong threads, errors;

static void *live_shortly(void *unused)
{
	unsigned char *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		block[i] = malloc((size_t)(100 + i * 50));
		block[i][0] = block[i][99] = (unsigned char)i;
	}
	for (int i = 0; i < BLOCKS; i++) {
		if (block[i][0] != i || block[i][99] != i)
			atomic_fetch_add(&errors, 1);
		free(block[i]);
	}
	atomic_fetch_add(&threads, 1);
	return unused;
}

static void *breed(void *unused)
{
	for (unsigned round = 0;; round++) {
		pthread_t thread[BROOD];
		pthread_attr_t attributes;

		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, (size_t)65536 << round % 6);
		for (int i = 0; i < BROOD; i++)
			if (pthread_create(&thread[i], &attributes, live_shortly, NULL))
				abort();
		for (int i = 0; i < BROOD; i++)
			pthread_join(thread[i], NULL);
		pthread_attr_destroy(&attributes);
	}
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, breed, NULL);
	target_say("ready\n");
	while (target_read(command))
		target_say("%lu threads, %lu errors\n", atomic_load(&threads),
			   atomic_load(&errors));
	return 0;
}
