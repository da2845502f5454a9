/* SPDX-License-Identifier: MIT */
/*
 * A container with a destructor, which was made when the program began: it holds 4 MB, replaces one
 * block after the other, and frees by an address of free that it has in its own memory, not in a
 * slot. "ready", then it works until it is ended; to each line it answers "replaced N", how many
 * blocks it has replaced.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>

#include "../target.h"

#define BLOCKS 40000u
#define BLOCK_BYTES 100u
#define PAUSE_EVERY 20000u /* a test that shares its CPUs with others needs no more */

static uint64_t replaced;

struct container {
	void (*destroy)(void *); /* packed away, as a library's table of methods is */
	void *block[BLOCKS];
};

static struct container *make(void)
{
	struct container *container = calloc(1, sizeof(*container));

	if (!container)
		abort();
	container->destroy = free;
	for (size_t i = 0; i < BLOCKS; i++)
		container->block[i] = malloc(BLOCK_BYTES);
	return container;
}

__attribute__((noinline)) static void *replace(struct container *container, size_t at)
{
	container->destroy(container->block[at]);
	return container->block[at] = malloc(BLOCK_BYTES);
}

static void *work(void *argument)
{
	struct container *container = argument;
	uint64_t state = 88172645463325252u;

	for (uint64_t round = 1;; round++) {
		state ^= state << 13, state ^= state >> 7, state ^= state << 17;
		memset(replace(container, state % BLOCKS), 1, BLOCK_BYTES);
		__atomic_store_n(&replaced, round, __ATOMIC_RELAXED);
		if (round % PAUSE_EVERY == 0)
			usleep(1000);
	}
	return NULL;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, make()))
		return 1;
	target_say("ready\n");
	while (target_read(command))
		target_say("replaced %" PRIu64 "\n", __atomic_load_n(&replaced, __ATOMIC_RELAXED));
	return 0;
}
