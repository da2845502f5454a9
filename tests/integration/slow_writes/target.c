/* SPDX-License-Identifier: MIT */
/*
 * Threads that never rest: each turns over its blocks with malloc, calloc, realloc and free, all of
 * them called through slots of the GOT, and checks every byte that it wrote. Command: check =
 * answers "right" if nothing was damaged and every thread goes on.
 */
#include "../target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { WORKERS = 4, BLOCKS = 64, BYTES_MAX = 1024 };

struct block {
	unsigned char *byte;
	size_t size;
	unsigned char mark; /* in every byte */
};

static atomic_ulong rounds[WORKERS];
static _Atomic(const char *) damage;

static void expect(const struct block *block, size_t size, unsigned char mark,
		   const char *otherwise)
{
	for (size_t i = 0; i < size; i++)
		if (block->byte[i] != mark)
			atomic_store(&damage, otherwise);
}

static void mark(struct block *block, size_t size, unsigned char mark)
{
	block->size = size;
	block->mark = mark;
	memset(block->byte, mark, size);
}

static void turn_over(struct block *block, unsigned random)
{
	const size_t size = 1 + random % BYTES_MAX, kept = size < block->size ? size : block->size;
	const unsigned char next = (unsigned char)(random >> 10);

	expect(block, block->size, block->mark, "a block was damaged");
	switch (random >> 18 & 3) {
	case 0:
		block->byte = realloc(block->byte, size);
		expect(block, kept, block->mark, "realloc lost what was in the block");
		break;
	case 1:
		free(block->byte);
		block->byte = calloc(1, size);
		expect(block, size, 0, "calloc gave a block that is not zero");
		break;
	default:
		free(block->byte);
		block->byte = malloc(size);
	}
	mark(block, size, next);
}

static void *work(void *number)
{
	const size_t me = (size_t)number;
	struct block block[BLOCKS] = {0};
	unsigned random = (unsigned)me + 1;

	for (;;) {
		random = random * 1664525u + 1013904223u;
		turn_over(&block[atomic_fetch_add(&rounds[me], 1) % BLOCKS], random >> 8);
	}
	return NULL;
}

static const char *check(void)
{
	const char *said;

	for (size_t i = 0; i < WORKERS; i++) {
		const unsigned long before = atomic_load(&rounds[i]);

		for (int wait = 0; atomic_load(&rounds[i]) < before + BLOCKS; wait++) {
			if (wait == TARGET_PATIENCE_MS)
				return "a thread hangs";
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
	}
	said = atomic_load(&damage);
	return said ? said : "right";
}

int main(void)
{
	pthread_t thread;
	char command[TARGET_COMMAND_MAX];

	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	target_say("ready\n");
	while (target_read(command))
		target_say("%s\n", check());
	return 0;
}
