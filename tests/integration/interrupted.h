/* SPDX-License-Identifier: MIT */
/*
 * interrupted.h - for targets that interrupt their own threads by a timer, and do something awkward
 * in the handler, but only where it interrupted heapinject's code: so that the allocator itself
 * stays whole.
 */
#ifndef INTERRUPTED_H
#define INTERRUPTED_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define THEIR_CODES 4
static struct {
	_Atomic uintptr_t lo, hi;
} their_code[THEIR_CODES]; /* the gate, and the payload if it lies elsewhere */

/* Looks where it is now; 0 = there is none. */
static int find_their_code(void)
{
	static char line[1024];
	FILE *file = fopen("/proc/self/maps", "r");
	uintptr_t lo, hi;
	int count = 0;

	for (int i = 0; i < THEIR_CODES; i++)
		their_code[i].lo = their_code[i].hi = 0;
	while (file && fgets(line, sizeof(line), file) && count < THEIR_CODES)
		if (strstr(line, "r-xp") && strstr(line, "heapinject") &&
		    sscanf(line, "%lx-%lx", &lo, &hi) == 2) {
			their_code[count].lo = lo;
			their_code[count++].hi = hi;
		}
	if (file)
		fclose(file);
	return count;
}

/* context: what the handler got. */
static int is_in_their_code(const void *context)
{
	const uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (int i = 0; i < THEIR_CODES; i++)
		if (pc >= their_code[i].lo && pc < their_code[i].hi)
			return 1;
	return 0;
}

static void on_timer(void (*handler)(int signal, siginfo_t *info, void *context))
{
	const struct sigaction action = {.sa_sigaction = handler,
					 .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
}

/* For the calling thread. */
static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	const struct itimerspec often = {.it_interval.tv_nsec = 150000, .it_value.tv_nsec = 150000};
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
		abort();
}

#endif
