/* SPDX-License-Identifier: MIT */
/*
 * heap_victim.c - a program with a small heap of all kinds of blocks, for heap_fuzz.h: in use and
 * free, small and large, aligned, with mappings of their own, of several threads. It writes one
 * byte when its heap is made, and then does nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
#define BLOCKS 120

static void *kept[THREADS + 1][BLOCKS]; /* not on the heap */
static pthread_barrier_t is_made;

static void make(void **block, unsigned seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		const size_t size = i % 40 == 39  ? 200000u + i * 4096u
				    : i % 10 == 9 ? 3000u + i * 64u
						  : 8u + (i * 37u + seed) % 500u;

		if (i % 12 == 5 && posix_memalign(&block[i], 256, size))
			_exit(1);
		if (i % 12 != 5)
			block[i] = malloc(size);
		if (!block[i])
			_exit(1);
		memset(block[i], 0x11, size < 5000 ? size : 5000);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		if (i % 3 == 0) {
			free(block[i]);
			block[i] = NULL;
		}
}

static void *work(void *of)
{
	make(of, 1);
	pthread_barrier_wait(&is_made);
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&is_made, NULL, THREADS + 1);
	make(kept[THREADS], 0);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, kept[i]))
			return 1;
	pthread_barrier_wait(&is_made);
	if (write(STDOUT_FILENO, "!", 1) != 1)
		return 1;
	for (;;)
		pause();
}
