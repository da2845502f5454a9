/* SPDX-License-Identifier: MIT */
/*
 * busy.c - threads that allocate and free, threads that wait in calls that a stop must not break
 * off, one that has the only pointer to a block in a register, and one that never sleeps, which
 * knows by that how long it was stopped. At each line of input it says what they have seen.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HELD_BYTES 54321 /* of the block in the register */
#define LOST_BYTES 43210 /* of the one that nothing refers to */
#define KEPT 1000

/* broken: calls that end if a tracer dies while it stops them, or after a signal that stops */
static _Atomic uint64_t interrupted, broken, allocated, stopped_ns;
static _Atomic int held, stays;
static void *kept[2][KEPT];

static void check(long result)
{
	interrupted += result < 0 && errno == EINTR;
}

static void *allocate(void *argument)
{
	void **mine = argument;
	unsigned random = 1;

	for (;; allocated++) {
		random = random * 1664525u + 1013904223u;
		void **at = &mine[(random >> 8) % KEPT];

		free(*at);
		*at = malloc((random >> 18) % 2000 + 1);
	}
	return NULL;
}

static void *wait_for_input(void *argument)
{
	int pipes[2];
	char byte;

	if (!pipe(pipes))
		check(read(pipes[0], &byte, 1));
	interrupted++; /* nothing comes */
	return argument;
}

static void *wait_for_time(void *argument)
{
	const struct timespec nap = {.tv_sec = 3600};

	for (;; broken++)
		(void)nanosleep(&nap, NULL);
	return argument;
}

static void *wait_for_word(void *argument)
{
	static uint32_t word;

	check(syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0));
	interrupted++;
	return argument;
}

static void *wait_for_event(void *argument)
{
	struct epoll_event event;

	for (const int events = epoll_create1(0);; broken++)
		(void)epoll_wait(events, &event, 1, -1);
	return argument;
}

/* The address is in one register and nowhere else. */
static void *hold(void *argument)
{
	void *block = malloc(HELD_BYTES);

	__asm__ volatile("mov %[block], %%r15\n\t"
			 "xor %[block], %[block]\n\t"
			 "movl $1, %[held]\n"
			 "1: pause\n\t"
			 "cmpl $0, %[stays]\n\t"
			 "je 1b\n"
			 : [block] "+a"(block), [held] "=m"(held)
			 : [stays] "m"(stays)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			   "r13", "r14", "r15", "cc", "memory");
	return argument;
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* For so long the calling thread has waited for a CPU. */
static uint64_t waited(void)
{
	unsigned long long ns = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file || fscanf(file, "%*u %llu", &ns) != 1)
		abort();
	fclose(file);
	return ns;
}

/* What of the time was neither spent on a CPU nor in a queue for one: it never sleeps. */
static void *monitor(void *argument)
{
	const uint64_t began = now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID) - waited();

	for (;;) {
		const uint64_t had = now(CLOCK_THREAD_CPUTIME_ID) + waited();
		const uint64_t wall = now(CLOCK_MONOTONIC);

		/* not if another thread had the CPU between the two */
		if (now(CLOCK_THREAD_CPUTIME_ID) + waited() - had < 1000000)
			stopped_ns = wall - began > had ? wall - began - had : 0;
	}
	return argument;
}

static void lose(void)
{
	char *volatile lost = malloc(LOST_BYTES);

	memset(lost, 'x', LOST_BYTES);
	lost = NULL;
}

int main(void)
{
	void *(*const work[])(void *) = {wait_for_input, wait_for_time, wait_for_word,
					 wait_for_event, hold,          monitor};
	pthread_t thread;
	char line[16];

	lose();
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, allocate, kept[i]);
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		pthread_create(&thread, NULL, work[i], NULL);
	while (!held || !stopped_ns || allocated < 100000)
		usleep(1000);
	do {
		printf("interrupted=%llu broken=%llu allocated=%llu stopped_us=%llu\n",
		       (unsigned long long)interrupted, (unsigned long long)broken,
		       (unsigned long long)allocated, (unsigned long long)stopped_ns / 1000);
		fflush(stdout);
	} while (fgets(line, sizeof(line), stdin));
	return 0;
}
