/* SPDX-License-Identifier: MIT */
/*
 * target.c - "step": keeps more by leak(), as much as before by cache(), and less by drain(), which
 * "fill" has filled. How much more and less goes by the clock and not by the step, so that it grows
 * as straight on a busy machine, whose steps are of any length.
 */
#include "../target.h"

#include <time.h>
#include <unistd.h>

#define STEP_MS 150 /* from one step to the next, at least */
#define BLOCK_MS 2  /* from one block to the next */
#define CACHED 40
#define DRAINED 6000

static void *cached[CACHED], *drained[DRAINED], *last;
static long drained_count, leaked_count;
static long long begin_ms;

__attribute__((noinline)) static void *leak(void)
{
	return malloc(8000);
}

/* Large enough for each to be sampled: chance must not make it grow. */
__attribute__((noinline)) static void *cache(void)
{
	return malloc(400000);
}

__attribute__((noinline)) static void *drain(void)
{
	return malloc(4000);
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void serve(void)
{
	static int step;
	long long ms;

	for (step++; (ms = now_ms() - begin_ms) < (long long)step * STEP_MS;)
		usleep(1000);

	for (; leaked_count < ms / BLOCK_MS; leaked_count++)
		last = leak();
	for (int i = 0; i < CACHED; i++) {
		free(cached[i]);
		cached[i] = cache();
	}
	while (drained_count > 0 && DRAINED - drained_count < ms / BLOCK_MS)
		free(drained[--drained_count]);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "step") == 0)
			serve();
		while (strcmp(command, "fill") == 0 && drained_count < DRAINED)
			drained[drained_count++] = drain();
		if (strcmp(command, "fill") == 0)
			begin_ms = now_ms();
		target_say("done\n");
	}
	return 0;
}
