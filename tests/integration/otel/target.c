/* SPDX-License-Identifier: MIT */
/*
 * Answers "work" with how many bytes it has allocated since the start, in how many allocations, and
 * how many of both are still in use: by two functions in two threads, through each kind of call.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

#include "../target.h"

#define ROUNDS 4000
#define KEPT_EVERY 4
#define KINDS 5

static uint64_t allocated, allocations, in_use, blocks_in_use;

static void count(size_t bytes, int is_kept)
{
	__atomic_fetch_add(&allocated, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&in_use, is_kept ? bytes : 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&blocks_in_use, is_kept, __ATOMIC_RELAXED);
}

/* The size differs, so that some blocks are larger than an interval. */
static size_t size_of(int round)
{
	return round % 97 ? 100 + (size_t)round % 13 * 1000 : 300000;
}

__attribute__((noinline)) static void *allocate_some(int round, size_t bytes)
{
	void *block = NULL, *larger;

	switch (round % KINDS) {
	case 0:
		block = malloc(bytes);
		break;
	case 1:
		block = calloc(1, bytes);
		break;
	case 2:
		if (posix_memalign(&block, 64, bytes))
			block = NULL;
		break;
	case 3:
		block = aligned_alloc(32, bytes / 32 * 32);
		break;
	default:
		block = malloc(50);
		count(50, 0);
		larger = realloc(block, bytes);
		block = larger;
	}
	count(round % KINDS == 3 ? bytes / 32 * 32 : bytes, round % KEPT_EVERY == 0);
	__asm__ volatile("" : "+r"(block)); /* no tail call: the frame is there */
	return block;
}

static void *work(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		void *block = allocate_some(round, size_of(round));

		if (!block)
			abort();
		if (round % 40 == 0) /* the kernel throttles events that come too fast */
			usleep(4000);
		memset(block, 1, 50);
		if (round % KEPT_EVERY)
			free(block);
	}
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		(void)work(NULL);
		pthread_join(thread, NULL);
		target_say("%llu %llu %llu %llu\n", (unsigned long long)allocated,
			   (unsigned long long)allocations, (unsigned long long)in_use,
			   (unsigned long long)blocks_in_use);
	}
	return 0;
}
