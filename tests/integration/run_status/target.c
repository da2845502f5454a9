// SPDX-License-Identifier: MIT
// What its argument says: ends in some way, or allocates until it reads a line.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *volatile kept;
static volatile sig_atomic_t interrupts;

static void interrupted(int signal)
{
	(void)signal;
	interrupts++;
	(void)!write(STDOUT_FILENO, "interrupted\n", 12);
}

static void keep(void)
{
	kept = malloc(5000);
}

static void *churn(void *unused)
{
	for (;;) {
		void *volatile block = malloc(100);

		free(block);
		usleep(1000);
	}
	return unused;
}

// Counts SIGINT until it reads a line, and allocates meanwhile.
static int job(void)
{
	const struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
	char line[16];
	pthread_t thread;

	pthread_create(&thread, NULL, churn, NULL);
	sigaction(SIGINT, &action, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	keep();
	printf("%d interrupts\n", (int)interrupts);
	return 9;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int death_signal;

	if (prctl(PR_GET_PDEATHSIG, &death_signal) || death_signal)
		return 98; // it would die with heapinject
	if (!strcmp(what, "job"))
		return job();
	puts("ran");
	keep();
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "fault"))
		*(volatile int *)16 = 1;
	return atoi(what);
}
