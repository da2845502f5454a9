/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - stacks in all forms that functions of this CPU give them: frames of kilobytes, frames
 * whose size is known only when they are there, recursion, callbacks of the C library, and signal
 * handlers that allocate, on the stack that they interrupt or on one of their own, while a leaf
 * function runs that has saved nothing.
 *
 * usage: stacks call|signal|alternate. What the handlers call is safe there, as nothing but the
 * handlers allocates then.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define OWN_FRAME __attribute__((noinline, noclone))
#define KEPT 64

static void *kept[KEPT];
static volatile unsigned turn;
static volatile long sink;

OWN_FRAME static void allocate(long bytes)
{
	void **block = &kept[turn++ % KEPT];

	free(*block);
	*block = malloc((size_t)(100 + bytes % 100));
	sink = bytes;
}

OWN_FRAME static void in_kilobytes(long n)
{
	volatile char room[5000];

	room[n] = 1;
	allocate(n);
	sink = room[n];
}

OWN_FRAME static void in_variable(long n)
{
	volatile char *room = alloca((size_t)(n * 8 + 16));

	room[0] = 1;
	in_kilobytes(n + 1);
	sink = room[0];
}

OWN_FRAME static void in_many_pages(long n)
{
	volatile char room[70000];

	room[n] = 1;
	in_variable(n + 1);
	sink = room[n];
}

OWN_FRAME static void recurse(long depth)
{
	if (depth)
		recurse(depth - 1);
	else
		in_many_pages(1);
	sink = depth;
}

OWN_FRAME static int compare(const void *a, const void *b)
{
	recurse(2);
	return *(const int *)a - *(const int *)b;
}

static void call(void)
{
	const struct timespec pause = {0, 1000000};

	for (;;) {
		int number[] = {3, 1, 2, 0};

		qsort(number, 4, sizeof(number[0]), compare);
		recurse(20);
		nanosleep(&pause, NULL);
	}
}

OWN_FRAME static void nested_handler(int number)
{
	allocate(number);
	sink = number;
}

OWN_FRAME static void handler(int number)
{
	allocate(number);
	if (turn % 3 == 0)
		raise(SIGUSR1);
	sink = number;
}

/* Nothing is called: the return address stays in its register. */
OWN_FRAME static long leaf(long a, long b)
{
	for (int i = 0; i < 20000; i++) {
		a = a * 31 + b;
		b ^= a >> 3;
		__asm__ volatile("" : "+r"(a), "+r"(b));
	}
	return a + b;
}

OWN_FRAME static long caller_of_leaf(long n)
{
	return leaf(n, 3) + 1;
}

static void be_interrupted(int flags)
{
	static char alternate[65536];
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	const struct itimerval timer = {{0, 5000}, {0, 5000}};
	struct sigaction action = {.sa_flags = flags};

	sigaltstack(&stack, NULL);
	action.sa_handler = handler;
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = nested_handler;
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (long i = 0;; i++)
		sink = caller_of_leaf(i);
}

int main(int count, char **argument)
{
	if (count == 2 && strcmp(argument[1], "call") == 0)
		call();
	if (count == 2 && strcmp(argument[1], "signal") == 0)
		be_interrupted(0);
	if (count == 2 && strcmp(argument[1], "alternate") == 0)
		be_interrupted(SA_ONSTACK);
	fputs("usage: stacks call|signal|alternate\n", stderr);
	return 2;
}
