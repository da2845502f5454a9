/* SPDX-License-Identifier: MIT */
/*
 * Makes copies of malloc's and free's addresses in every way that a program may: hoisted out of a
 * loop into registers, which callees spill to places of the stack where a moment later something
 * else lies; stored and sealed; registered with atexit, where libc keeps them in disguise. `check`
 * uses all of them.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "../target.h"

#define THREADS 2
#define CALLS 2000000

extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

static volatile unsigned long sink, batches;
static void (**sealed)(void *);

__attribute__((noinline)) static void leaf(unsigned long value)
{
	__asm__ volatile("" ::: "memory");
	sink += value;
}

/* Pushes every register that its caller may have put a call target into. */
__attribute__((noinline)) static void spill(unsigned long value)
{
	__asm__ volatile("" ::: "rbx", "rbp", "r12", "r13", "r14", "r15", "memory");
	leaf(value);
}

/* Has return addresses where spill had those registers. */
__attribute__((noinline)) static void inner(unsigned long value)
{
	leaf(value);
	leaf(value + 1);
	__asm__ volatile("");
}

__attribute__((noinline)) static void outer(unsigned long value)
{
	inner(value);
	inner(value + 1);
	__asm__ volatile("");
}

__attribute__((noinline, noipa)) static void batch(void)
{
	void *(*allocate)(size_t) = malloc;
	void (*release)(void *) = free;
	__asm__ volatile("" : "+r"(allocate), "+r"(release));
	for (unsigned long i = 0; i < CALLS; i++) {
		void *block = allocate(100 + (i & 1023));
		*(volatile char *)block = 1;
		spill(i);
		outer(i);
		spill(i);
		release(block);
	}
	batches++;
}

static void *work(void *unused)
{
	for (;;)
		batch();
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "copy")) {
			sealed = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			*sealed = free;
			mprotect(sealed, 4096, PROT_READ);
			__cxa_atexit(free, malloc(1000), NULL);
			target_say("copied\n");
		} else if (!strcmp(command, "check")) {
			const unsigned long before = batches;
			(*sealed)(malloc(1000));
			while (batches < before + 2 * THREADS)
				usleep(1000);
			target_say("good\n");
		} else {
			exit(0);
		}
	}
	return 1;
}
