/* SPDX-License-Identifier: MIT */
/*
 * seeded.h - what the eight programs have in common: each calls seeded_run() with what it does once
 * a millisecond, told whether to leak. Beside it goes on what goes on in any server, and is no
 * leak: requests that come and go, a table that is filled at the beginning, a history of bounded
 * length.
 */
#ifndef SEEDED_H
#define SEEDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SEEDED_SITE __attribute__((noinline, noclone))
#define SEEDED_MS_MAX 60000

/* The same numbers each time. */
static inline uint32_t seeded_random(uint32_t below)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((state >> 33) % below);
}

static inline int64_t seeded_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static SEEDED_SITE void *request_buffer(void)
{
	return memset(malloc(200 + seeded_random(1000)), 1, 200);
}

static SEEDED_SITE void *table_entry(void)
{
	return memset(malloc(1000), 1, 1000);
}

static SEEDED_SITE void *history_entry(void)
{
	return memset(malloc(256), 1, 256);
}

/* Of a millisecond. */
static inline void seeded_background(int64_t ms)
{
	static void *request[64], *table[500], *history[800];

	for (int i = 0; i < 4; i++) {
		void **at = &request[seeded_random(64)];
		free(*at);
		*at = request_buffer();
	}
	if (ms < 500)
		table[ms] = table_entry();
	free(history[ms % 800]);
	history[ms % 800] = history_entry();
}

/* For a minute at most; what was not done in time is made up for. */
static inline int seeded_run(int argc, char **argv, void (*step)(int64_t ms, bool leaks))
{
	const bool leaks = argc > 1 && strcmp(argv[1], "leak") == 0;
	const int64_t start = seeded_ms();

	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (int64_t ms = 0; ms < SEEDED_MS_MAX; usleep(1000)) {
		for (; ms < seeded_ms() - start; ms++) {
			seeded_background(ms);
			step(ms, leaks);
		}
	}
	return 0;
}

#endif
