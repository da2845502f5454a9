/* SPDX-License-Identifier: MIT */
/*
 * guarded/target.c - grows by mappings that have a guard page below, ten a second. Argument
 * threads: each is the stack of a thread that stays; mappings: none is.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "../target.h"

#define BYTES ((size_t)1 << 20)
#define GUARD 4096

static void *stay(void *unused)
{
	volatile char room[BYTES / 2];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 1;
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const int makes_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, BYTES))
		abort();
	target_say("ready\n");
	for (;;) {
		char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

		if (at == MAP_FAILED)
			abort();
		if (makes_threads) {
			munmap(at, BYTES);
			if (pthread_create(&thread, &attributes, stay, NULL))
				abort();
		} else {
			if (mprotect(at, GUARD, PROT_NONE))
				abort();
			memset(at + GUARD, 1, BYTES - GUARD);
		}
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
}
