/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c - a program that allocates, and whose timer signals allocate, too, wherever they
 * come in its own code or in a gate entry. (They do not in the allocator, nor in a hook, where
 * calls are nested ones and no samples.) At SIGUSR1 it begins; what it has allocated it writes to
 * the file.
 *
 *     interrupted FILE
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/time.h>
#include <ucontext.h>

#include "asked.h"

#define ROUNDS 3000000u
#define BYTES 96u
#define BYTES_BY_HANDLER 4096u
#define ENTRY_BYTES 192u
#define TIMER_US 100

extern const char __executable_start, etext;
static volatile unsigned long by_handler, in_gate;

/* A slot is read each time: from the attach on an entry of the gate is in it. */
static int is_in_entry(uintptr_t pc)
{
	uintptr_t of_malloc, of_free;

	__asm__ volatile("adrp %0, :got:malloc\n\tldr %0, [%0, :got_lo12:malloc]\n\t"
			 "adrp %1, :got:free\n\tldr %1, [%1, :got_lo12:free]"
			 : "=&r"(of_malloc), "=&r"(of_free));
	return pc - of_malloc < ENTRY_BYTES || pc - of_free < ENTRY_BYTES;
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
	if (is_in_entry(pc))
		in_gate++;
	else if (pc < (uintptr_t)&__executable_start || pc >= (uintptr_t)&etext)
		return;
	by_handler++;
	free(take_in_handler());
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_sigaction = allocate_in_handler,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval timer = {{0, TIMER_US}, {0, TIMER_US}};

	asked_open(argc, argv);
	sigaction(SIGALRM, &action, NULL);
	fprintf(report, "ready\n");
	asked_signal();
	setitimer(ITIMER_REAL, &timer, NULL);
	for (unsigned i = 0; i < ROUNDS; i++)
		free(take(BYTES));
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	fprintf(report, "take %lu take_in_handler %lu gate %lu\n", (unsigned long)ROUNDS * BYTES,
		by_handler * BYTES_BY_HANDLER, in_gate);
	asked_signal();
	return 0;
}
