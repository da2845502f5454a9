/* SPDX-License-Identifier: MIT */
/*
 * More threads than the payload once had slots for, all of them there before anybody comes. With a
 * stack of 64 KB and its guard page their thread pointers are 17 pages apart. Command: go = each
 * makes its allocations and keeps every tenth block; then one line: live blocks, live bytes,
 * allocated blocks, allocated bytes of this round.
 */
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 3000, BLOCKS = 60, KEPT = 10, STACK = 64 << 10 };

static _Atomic uint64_t live_blocks, live_bytes, all_blocks, all_bytes;
static void *kept[THREADS][BLOCKS / KEPT];
static pthread_barrier_t start, end;

/* Again and again the others get their turn, so that all are in the midst of it at once. */
__attribute__((noinline)) static void allocate(size_t number, uint64_t *state)
{
	uint64_t bytes = 0, lasting = 0;

	for (int i = 0; i < BLOCKS; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		const size_t size = 16 + (*state >> 33) % 1000;
		void *block = malloc(size);

		__asm__ volatile("" : "+r"(block) : : "memory");
		bytes += size;
		if (i % KEPT) {
			free(block);
			continue;
		}
		lasting += size;
		/* for good: what was there is of an earlier session */
		kept[number][i / KEPT] = block;
		sched_yield();
	}
	live_blocks += BLOCKS / KEPT;
	live_bytes += lasting;
	all_blocks += BLOCKS;
	all_bytes += bytes;
}

static void *work(void *argument)
{
	uint64_t state = (uintptr_t)argument;

	for (;;) {
		pthread_barrier_wait(&start);
		allocate((size_t)argument, &state);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX], line[128];
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_barrier_init(&start, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &attributes, work, (void *)i)) {
			target_say("this machine does not let a program have %d threads\n",
				   THREADS);
			return 1;
		}
	target_say("ready\n");
	while (target_read(command)) {
		live_blocks = live_bytes = all_blocks = all_bytes = 0;
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
