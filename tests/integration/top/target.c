/* SPDX-License-Identifier: MIT */
/*
 * Keeps 40 MB in keep_much and 1 MB in keep_little, and goes on keeping a bit more in leak_a_bit,
 * under a name that would control a terminal.
 */
#include <sys/prctl.h>
#include <time.h>

#include "../target.h"

#define KEPT (1 << 20)

static void *volatile kept[KEPT];
static int count;

static void keep(void *block, size_t size)
{
	kept[count++ % KEPT] = memset(block, 1, size);
}

__attribute__((noinline)) static void keep_much(void)
{
	keep(malloc(400000), 400000);
}

__attribute__((noinline)) static void keep_little(void)
{
	keep(malloc(10000), 10000);
}

__attribute__((noinline)) static void leak_a_bit(void)
{
	keep(malloc(3000), 3000);
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 4000000};
	char command[TARGET_COMMAND_MAX];

	(void)prctl(PR_SET_NAME, "ev\033]0;x\007\033[31m", 0, 0, 0);
	target_say("ready\n");
	(void)target_read(command); /* the session has begun */
	for (int i = 0; i < 100; i++) {
		keep_much();
		keep_little();
	}
	for (;;) {
		leak_a_bit();
		nanosleep(&pause, NULL);
	}
}
