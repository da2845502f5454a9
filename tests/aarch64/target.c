/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program that knows what it allocates, and that watches itself: its threads hold
 * values in all registers, sleep, and wait in calls that only a signal may end. It writes a line
 * to the file of its argument when it is asked to by SIGUSR1, and one at its end (SIGTERM); at each
 * SIGUSR1 it also allocates.
 *
 *     target FILE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "asked.h"

#define KEPT 300
#define FREED 700
#define KEPT_BYTES 100
#define FREED_BYTES 250
#define SLEEP_SECONDS 4

static unsigned long interrupted, late, slept, damaged, rounds, sve_rounds;
static void *kept[1 << 16];
static size_t kept_count;

static void count(unsigned long *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static void *wait_in_epoll(void *argument)
{
	const int fd = epoll_create1(0);
	struct epoll_event event;

	(void)argument;
	for (;;)
		if (epoll_wait(fd, &event, 1, -1) < 0)
			count(&interrupted);
	return NULL;
}

static void *wait_for_signal(void *argument)
{
	sigset_t set;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (;;)
		if (sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 1000}) < 0)
			count(&interrupted);
	return NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A sleep that begins anew lasts up to twice as long. */
static void *sleep_in_steps(void *argument)
{
	(void)argument;
	for (;;) {
		const double begun = now();

		if (nanosleep(&(struct timespec){.tv_sec = SLEEP_SECONDS}, NULL))
			count(&interrupted);
		count(&slept);
		if (now() - begun > SLEEP_SECONDS * 1.6)
			count(&late);
	}
	return NULL;
}

/* Keeps values in x9 to x15, x19 to x26 and v0 to v31 for some thousand instructions. */
static unsigned long spin_in_registers(void)
{
	unsigned long wrong = 0;

	__asm__ volatile("mov x9, #9\n\tmov x10, #10\n\tmov x11, #11\n\tmov x12, #12\n\t"
			 "mov x13, #13\n\tmov x14, #14\n\tmov x19, #19\n\tmov x20, #20\n\t"
			 "mov x21, #21\n\tmov x22, #22\n\tmov x23, #23\n\tmov x24, #24\n\t"
			 ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
			 "25,26,27,28,29,30,31\n\t"
			 "movi v\\n\\().16b, #(\\n + 100)\n\t.endr\n\t"
			 "mov x15, #3000\n"
			 "1:	subs x15, x15, #1\n\tb.ne 1b\n\t"
			 ".irp n,9,10,11,12,13,14,19,20,21,22,23,24\n\t"
			 "cmp x\\n, #\\n\n\tcinc %0, %0, ne\n\t.endr\n\t"
			 ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
			 "25,26,27,28,29,30,31\n\t"
			 "umov w9, v\\n\\().b[15]\n\tcmp w9, #(\\n + 100)\n\tcinc %0, %0, ne\n\t"
			 ".endr"
			 : "+r"(wrong)
			 :
			 : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x19", "x20", "x21",
			   "x22", "x23", "x24", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
			   "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
			   "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
			   "v27", "v28", "v29", "v30", "v31");
	return wrong;
}

/* The same in the upper halves of z0 to z3 and in p1. */
__attribute__((target("+sve"))) static unsigned long spin_in_vectors(void)
{
	unsigned long wrong = 0;

	__asm__ volatile("ptrue p0.b\n\tptrue p1.h\n\tdup z0.b, #100\n\tdup z1.b, #101\n\t"
			 "dup z2.b, #102\n\tdup z3.b, #103\n\tmov x15, #3000\n"
			 "1:	subs x15, x15, #1\n\tb.ne 1b\n\t"
			 ".irp n,0,1,2,3\n\t"
			 "cmpne p2.b, p0/z, z\\n\\().b, #0\n\tlastb w9, p0, z\\n\\().b\n\t"
			 "cmp w9, #(\\n + 100)\n\tcinc %0, %0, ne\n\t.endr\n\t"
			 "cntp x9, p0, p1.b\n\tcntp x10, p0, p0.b\n\tcmp x10, x9, lsl #1\n\t"
			 "cinc %0, %0, ne"
			 : "+r"(wrong)
			 :
			 : "x9", "x10", "x15", "cc", "v0", "v1", "v2", "v3", "p0", "p1", "p2");
	return wrong;
}

static void *watch_registers(void *argument)
{
	(void)argument;
	for (;; count(&rounds))
		if (spin_in_registers())
			count(&damaged);
	return NULL;
}

static void *watch_vectors(void *argument)
{
	(void)argument;
	for (;; count(&sve_rounds))
		if (spin_in_vectors())
			count(&damaged);
	return NULL;
}

__attribute__((noinline)) static void allocate(void)
{
	for (int i = 0; i < KEPT; i++)
		kept[kept_count++ % (sizeof(kept) / sizeof(kept[0]))] = take(KEPT_BYTES);
	for (int i = 0; i < FREED; i++)
		free(take(FREED_BYTES));
}

static void start(void *(*thread)(void *))
{
	pthread_t handle;

	if (pthread_create(&handle, NULL, thread, NULL))
		abort();
}

int main(int argc, char **argv)
{
	sigset_t set;
	int signal;

	asked_open(argc, argv);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	start(wait_in_epoll);
	start(wait_for_signal);
	start(sleep_in_steps);
	start(watch_registers);
	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		start(watch_vectors);
	do {
		fprintf(report, "interrupted %lu late %lu damaged %lu slept %lu rounds %lu %lu\n",
			interrupted, late, damaged, slept, rounds, sve_rounds);
		signal = asked_signal();
		if (signal == SIGUSR1)
			allocate();
	} while (signal != SIGTERM);
	fprintf(report, "end interrupted %lu late %lu damaged %lu\n", interrupted, late, damaged);
	fprintf(report, "rounds %lu sve %lu slept %lu\n", rounds, sve_rounds, slept);
	return 0;
}
