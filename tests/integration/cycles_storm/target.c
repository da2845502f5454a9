/* SPDX-License-Identifier: MIT */
/*
 * Eight threads that do nothing but allocate, move, check and free. Every block is filled with a pattern of its own, and checked when it is moved or
 * freed: a block handed out twice, or moved wrongly, shows up as a wrong byte. Commands: rounds = operations done so far; end = stop and check all.
 */
#include "../target.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define THREADS 8
#define BLOCKS 256
#define TOUCHED 64 /* bytes of the pattern at either end */

struct block {
	unsigned char *at;
	size_t size;
	unsigned char pattern;
};

static atomic_bool stopping;
static atomic_ulong operations, errors;

static uint32_t random_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static size_t shorter(size_t size)
{
	return size < TOUCHED ? size : TOUCHED;
}

static void fill(const struct block *block)
{
	memset(block->at, block->pattern, shorter(block->size));
	memset(block->at + block->size - shorter(block->size), block->pattern, shorter(block->size));
}

static void check(const unsigned char *at, size_t count, unsigned char pattern)
{
	for (size_t i = 0; i < count; i++)
		if (at[i] != pattern)
			atomic_fetch_add(&errors, 1);
}

static void check_block(const struct block *block)
{
	check(block->at, shorter(block->size), block->pattern);
	check(block->at + block->size - shorter(block->size), shorter(block->size), block->pattern);
}

static unsigned char *allocate(uint32_t kind, size_t size)
{
	void *block = NULL;

	switch (kind % 5) {
	case 0:
		block = calloc(1, size);
		check(block, shorter(size), 0);
		return block;
	case 1:
		return posix_memalign(&block, 64, size) ? NULL : block;
	case 2:
		return aligned_alloc(32, (size + 31) & ~(size_t)31);
	default:
		return malloc(size);
	}
}

static void replace(struct block *block, uint32_t *state)
{
	const uint32_t kind = random_next(state);
	const size_t size = 1 + random_next(state) % (kind % 64 ? 2000 : 200000);

	if (block->at) {
		check_block(block);
		if (kind % 7 == 0) {
			unsigned char *moved = realloc(block->at, size);
			check(moved, shorter(size < block->size ? size : block->size), block->pattern);
			block->at = moved;
		} else {
			free(block->at);
			block->at = allocate(kind, size);
		}
	} else {
		block->at = allocate(kind, size);
	}
	block->size = size;
	block->pattern = (unsigned char)kind;
	fill(block);
}

static void *storm(void *seed)
{
	struct block blocks[BLOCKS] = {0};
	uint32_t state = (uint32_t)(uintptr_t)seed * 2654435761u;

	while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
		errno = 42;
		replace(&blocks[random_next(&state) % BLOCKS], &state);
		if (errno != 42)
			atomic_fetch_add(&errors, 1);
		atomic_fetch_add_explicit(&operations, 1, memory_order_relaxed);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].at) {
			check_block(&blocks[i]);
			free(blocks[i].at);
		}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	char command[TARGET_COMMAND_MAX];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm, (void *)(i + 1));
	target_say("ready\n");
	while (target_read(command) && strcmp(command, "end") != 0)
		target_say("%lu operations, %lu errors\n", atomic_load(&operations), atomic_load(&errors));
	atomic_store(&stopping, 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	target_say("ended, %lu errors\n", atomic_load(&errors));
	return atomic_load(&errors) != 0;
}
