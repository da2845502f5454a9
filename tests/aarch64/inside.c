/* SPDX-License-Identifier: MIT */
/*
 * inside.c - a program that allocates, and whose timer signals allocate, too, where they come in
 * code of heapinject: an entry of the gate, or a hook. (In the allocator they do not, as it is not
 * to be called from there.) At SIGUSR1 it begins, until SIGTERM; how many times a handler allocated
 * it writes to the file.
 *
 *     inside FILE
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define BYTES 96u
#define BYTES_BY_HANDLER 4096u
#define TIMER_US 200
#define RANGES_MAX 32

static struct {
	uintptr_t lo, hi;
} range[RANGES_MAX];
static unsigned ranges;
static volatile sig_atomic_t is_over;
static volatile unsigned long by_handler;

/* Code of heapinject. Allocates nothing. */
static void find_ranges(void)
{
	static char maps[1 << 18];
	const int file = open("/proc/self/maps", O_RDONLY);
	size_t size = 0;
	ssize_t got;

	while (file >= 0 && (got = read(file, maps + size, sizeof(maps) - 1 - size)) > 0)
		size += (size_t)got;
	close(file);
	for (char *line = strtok(maps, "\n"); line && ranges < RANGES_MAX;
	     line = strtok(NULL, "\n")) {
		unsigned long lo, hi;

		if (strstr(line, " r-x") && strstr(line, "heapinject") &&
		    sscanf(line, "%lx-%lx", &lo, &hi) == 2) {
			range[ranges].lo = lo;
			range[ranges++].hi = hi;
		}
	}
}

__attribute__((noinline)) static void *take_in_handler(void)
{
	void *volatile block = malloc(BYTES_BY_HANDLER);

	return block;
}

static void allocate_in_handler(int signal, siginfo_t *info, void *context)
{
	const uintptr_t pc = ((const ucontext_t *)context)->uc_mcontext.pc;

	(void)signal, (void)info;
	for (unsigned i = 0; i < ranges; i++) {
		if (pc < range[i].lo || pc >= range[i].hi)
			continue;
		by_handler++;
		free(take_in_handler());
	}
}

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

__attribute__((noinline)) static void *take(void)
{
	void *volatile block = malloc(BYTES);

	return block;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_sigaction = allocate_in_handler,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval timer = {{0, TIMER_US}, {0, TIMER_US}};
	FILE *report = argc > 1 ? fopen(argv[1], "w") : stdout;
	sigset_t set;
	int signal_number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	signal(SIGTERM, end);
	fprintf(report, "ready\n");
	fflush(report);
	sigwait(&set, &signal_number);
	find_ranges();
	setitimer(ITIMER_REAL, &timer, NULL);
	while (!is_over)
		free(take());
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	fprintf(report, "by handler %lu\n", by_handler);
	fclose(report);
	return 0;
}
