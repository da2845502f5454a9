/* SPDX-License-Identifier: MIT */
/*
 * Leaks in session_cache_add, and allocates and frees elsewhere: "to MB" until so much is kept,
 * "grow MB" so much a second until it is killed, "burst MB" in one block.
 */
#include <time.h>

#include "../target.h"

#define BLOCK 16384
#define MB 1048576.0

static double kept;

__attribute__((noinline)) static void *session_cache_add(size_t size)
{
	char *one = malloc(size);

	if (one)
		memset(one, 1, size);
	kept += (double)size;
	return one;
}

__attribute__((noinline)) static void serve_request(void)
{
	void *part[32];

	for (int i = 0; i < 32; i++)
		part[i] = malloc(200 + 50 * (size_t)i);
	for (int i = 0; i < 32; i++)
		free(part[i]);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void grow(double rate)
{
	const double start = now(), before = kept;

	for (;;) {
		serve_request();
		while (kept - before < (now() - start) * rate)
			session_cache_add(BLOCK);
		usleep(1000);
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	double number;

	target_say("ready\n");
	while (target_read(command)) {
		serve_request();
		if (sscanf(command, "to %lf", &number) == 1) {
			while (kept < number * MB)
				session_cache_add(BLOCK);
		} else if (sscanf(command, "grow %lf", &number) == 1) {
			grow(number * MB);
		} else if (sscanf(command, "burst %lf", &number) == 1) {
			session_cache_add((size_t)(number * MB));
		}
		target_say("%.0f MB\n", kept / MB);
	}
	return 0;
}
