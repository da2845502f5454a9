/* SPDX-License-Identifier: MIT */
/*
 * storm.h - children that are hard to attach to: they do nothing but allocate, or load libraries,
 * and check all the time that their heap is sound.
 *
 * A storm is a forked child; it ends with the test case. storm_check fails the case if the child
 * has died, found a damaged block, or stands still.
 */
#ifndef HI_STORM_H
#define HI_STORM_H

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "unit.h"

struct storm {
	pid_t pid;
	volatile uint64_t *rounds; /* shared with the child */
};

static inline void storm_fill(unsigned char *block, size_t size)
{
	memset(block, (int)(size % 251), size);
}

/* Freed chunks carry the allocator's own words, live ones exactly what storm_fill wrote. */
static inline void storm_verify(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (block[i] != size % 251)
			abort();
}

static inline void storm_allocate(volatile uint64_t *rounds, void *(*allocate)(size_t))
{
	enum { LIVE = 64 };
	struct {
		unsigned char *block;
		size_t size;
	} live[LIVE] = {{NULL, 0}};
	uint64_t random = (uintptr_t)live | 1;

	for (;;) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		const size_t slot = random >> 58, size = 16 + (random >> 40) % 1000;
		if (live[slot].block)
			storm_verify(live[slot].block, live[slot].size);
		free(live[slot].block);
		live[slot].block = allocate(size);
		live[slot].size = size;
		storm_fill(live[slot].block, size);
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
	}
}

static inline void *storm_aligned(size_t size)
{
	return aligned_alloc(64, (size + 63) / 64 * 64);
}

static inline void *storm_malloc_thread(void *rounds)
{
	storm_allocate(rounds, malloc);
	return NULL;
}

static inline void storm_malloc(volatile uint64_t *rounds)
{
	storm_allocate(rounds, malloc);
}

static inline void storm_malloc_two_threads(volatile uint64_t *rounds)
{
	pthread_t thread;

	mallopt(M_ARENA_MAX, 1);
	pthread_create(&thread, NULL, storm_malloc_thread, (void *)(uintptr_t)rounds);
	storm_allocate(rounds, malloc);
}

static inline void storm_aligned_alloc(volatile uint64_t *rounds)
{
	storm_allocate(rounds, storm_aligned);
}

static inline void storm_dlopen(volatile uint64_t *rounds)
{
	for (;;) {
		void *handle = dlopen("libutil.so.1", RTLD_NOW);
		if (!handle || dlclose(handle))
			abort();
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
	}
}

static inline struct storm storm_start(void (*run)(volatile uint64_t *rounds))
{
	struct storm storm;

	storm.rounds = mmap(NULL, sizeof(*storm.rounds), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK((void *)(uintptr_t)storm.rounds != MAP_FAILED);
	storm.pid = fork();
	if (storm.pid == 0) {
		alarm(2 * UNIT_TIME_LIMIT_S);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(storm.rounds);
	}
	CHECK(storm.pid > 0);
	WAIT_FOR(*storm.rounds >= 10);
	return storm;
}

static inline void storm_check_alive(const struct storm *storm)
{
	int status;

	if (waitpid(storm->pid, &status, WNOHANG) == storm->pid)
		UNIT_FAIL("the storm has ended with wait status 0x%x", (unsigned)status);
}

static inline void storm_check(const struct storm *storm)
{
	const uint64_t before = *storm->rounds;

	WAIT_FOR(storm_check_alive(storm), *storm->rounds > before);
}

static inline void storm_end(const struct storm *storm)
{
	storm_check(storm);
	kill(storm->pid, SIGKILL);
	waitpid(storm->pid, NULL, 0);
}

#endif
