// SPDX-License-Identifier: MIT
//
// Looks at the clock all the time, and allocates in a signal handler that interrupts it there: so
// stacks go through the vdso.
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>

#include "../target.h"

#define BLOCK 1000
#define BLOCKS 300

static volatile sig_atomic_t blocks;

/* Nothing else allocates, so that the handler may. */
static void take_block(int signal)
{
	*(volatile char *)malloc(BLOCK) = (char)signal;
	blocks++;
}

static __attribute__((noinline)) void look_at_clock(void)
{
	struct timespec now;

	while (blocks < BLOCKS)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(void)
{
	const struct itimerval often = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000},
			       never = {.it_value.tv_usec = 0};
	char command[TARGET_COMMAND_MAX];

	signal(SIGALRM, take_block);
	target_say("ready\n");
	while (target_read(command) && strcmp(command, "end") != 0) {
		blocks = 0;
		setitimer(ITIMER_REAL, &often, NULL);
		look_at_clock();
		setitimer(ITIMER_REAL, &never, NULL);
		target_say("%s\n", getauxval(AT_SYSINFO_EHDR) ? "done" : "no vdso");
	}
	return 0;
}
