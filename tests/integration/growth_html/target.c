/* SPDX-License-Identifier: MIT */
/* target.c - "step": keeps more by leak(), as much as before by cache(), and less by drain(), which "fill" has filled. */
#include "../target.h"

#define STEPS 24
#define LEAKED 150
#define CACHED 40
#define DRAINED 150

static void *cached[CACHED], *drained[STEPS * DRAINED], *last;
static int drained_count;

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
	return malloc(2000);
}

__attribute__((noinline)) static void serve(void)
{
	for (int i = 0; i < LEAKED; i++)
		last = leak();
	for (int i = 0; i < CACHED; i++) {
		free(cached[i]);
		cached[i] = cache();
	}
	for (int i = 0; i < DRAINED && drained_count > 0; i++)
		free(drained[--drained_count]);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "step") == 0)
			serve();
		while (strcmp(command, "fill") == 0 && drained_count < STEPS * DRAINED)
			drained[drained_count++] = drain();
		target_say("done\n");
	}
	return 0;
}
