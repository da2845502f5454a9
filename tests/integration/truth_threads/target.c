/* SPDX-License-Identifier: MIT */
/*
 * Threads that swap blocks through shared places: each puts a new one in and frees what was there,
 * mostly another thread's, whose address the next allocation of any thread may get. Some are grown
 * on the way. What was allocated and freed is counted. Commands: go = all rounds, then one line:
 * live blocks, live bytes, allocated blocks, allocated bytes.
 */
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 4, PLACES = 512, ROUNDS = 60000, DEPTH = 12 };

struct block {
	size_t size;
};

static _Atomic(struct block *) place[PLACES];
static _Atomic uint64_t live_blocks, live_bytes, all_blocks, all_bytes;
static pthread_barrier_t start, end;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void count(size_t size)
{
	live_blocks++;
	live_bytes += size;
	all_blocks++;
	all_bytes += size;
}

static void uncount(size_t size)
{
	live_blocks--;
	live_bytes -= size;
}

/* Stacks of many shapes: the path down is part of what was drawn. */
__attribute__((noinline)) static struct block *allocate(size_t size, unsigned path, int depth)
{
	struct block *block;

	if (depth)
		block = path & 1 ? allocate(size, path >> 1, depth - 1)
				 : allocate(size, path >> 1, depth - 1);
	else
		block = malloc(size);
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static struct block *grow(struct block *block)
{
	size_t size = block->size * 2;

	uncount(block->size);
	block = realloc(block, size);
	block->size = size;
	count(size);
	return block;
}

static void *swap(void *argument)
{
	uint64_t state = 0x9e3779b97f4a7c15ull * ((uintptr_t)argument + 1);

	pthread_barrier_wait(&start);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t drawn = random_next(&state);
		size_t size = sizeof(struct block) + drawn % 1000;
		struct block *block = allocate(size, (unsigned)(drawn >> 10) & 0xfff,
					       (int)((drawn >> 32) % DEPTH));

		block->size = size;
		count(size);
		if (drawn >> 40 & 1)
			block = grow(block);
		block = atomic_exchange(&place[(drawn >> 48) % PLACES], block);
		if (block) {
			uncount(block->size);
			free(block);
		}
	}
	pthread_barrier_wait(&end);
	pause();
	return NULL;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX], line[128];
	pthread_t thread;

	pthread_barrier_init(&start, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, swap, (void *)i))
			return 1;
	target_say("ready\n");
	while (target_read(command)) {
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&end);
		/* dprintf would allocate, and free, a buffer. */
		const int length =
			snprintf(line, sizeof(line), "%llu %llu %llu %llu\n",
				 (unsigned long long)live_blocks, (unsigned long long)live_bytes,
				 (unsigned long long)all_blocks, (unsigned long long)all_bytes);
		if (write(STDOUT_FILENO, line, (size_t)length) != length)
			return 1;
	}
	return 0;
}
