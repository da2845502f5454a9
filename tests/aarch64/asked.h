/* SPDX-License-Identifier: MIT */
/*
 * asked.h - for programs that a script asks for something by signals, and that answer with lines in
 * a file, which is their argument.
 */
#ifndef ASKED_H
#define ASKED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *report;
static sigset_t asking;

/* To be called before there are other threads. */
static inline void asked_open(int argc, char **argv)
{
	report = argc > 1 ? fopen(argv[1], "w") : stdout;
	sigemptyset(&asking);
	sigaddset(&asking, SIGUSR1);
	sigaddset(&asking, SIGTERM);
	if (!report || sigprocmask(SIG_BLOCK, &asking, NULL))
		abort();
}

/* The next signal, SIGUSR1 or SIGTERM. What was written so far can be read. */
static inline int asked_signal(void)
{
	int signal;

	fflush(report);
	if (sigwait(&asking, &signal))
		abort();
	return signal;
}

__attribute__((noinline)) static void *take(size_t size)
{
	void *volatile block = malloc(size);

	return block;
}

#endif
