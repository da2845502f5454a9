/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in different ways, allocate now and then, and check what they hold; one keeps
 * copies of allocator pointers, taken from its GOT slot again and again, as programs with tables of
 * functions do. Argument storm: they never wait. Command: check = answers "right" if nothing was
 * damaged and every thread goes on.
 */
#include "../target.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WORKERS 4
#define BLOCKS 64

static atomic_ulong rounds[WORKERS];
static atomic_ulong errors;

static void nap_in_nanosleep(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

static void nap_in_poll(void)
{
	poll(NULL, 0, 1);
}

static void nap_in_futex(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 700000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&never, &mutex, &end);
	pthread_mutex_unlock(&mutex);
}

static void compute(void)
{
	for (volatile int i = 0; i < 200000; i++)
		;
	nap_in_nanosleep();
}

static int is_storm;
static void (*const naps[WORKERS])(void) = {nap_in_nanosleep, nap_in_poll, nap_in_futex, compute};

struct operations {
	void *(*allocate)(size_t size);
	void (*release)(void *block);
};

static void *work(void *number)
{
	const size_t me = (size_t)number;
	struct operations *operations = calloc(1, sizeof(*operations));
	unsigned char *blocks[BLOCKS] = {0};
	size_t next = 0;

	for (;; next = (next + 1) % BLOCKS) {
		if (next == 0)
			*operations = (struct operations){malloc, free};
		if (blocks[next] && (blocks[next][0] != (unsigned char)next ||
				     blocks[next][999] != (unsigned char)next))
			atomic_fetch_add(&errors, 1);
		operations->release(blocks[next]);
		blocks[next] = operations->allocate(1000);
		memset(blocks[next], (int)next, 1000);
		atomic_fetch_add(&rounds[me], 1);
		if (!is_storm)
			naps[me]();
	}
	return NULL;
}

/* Every worker comes round, and nothing is damaged. */
static const char *check(void)
{
	for (size_t i = 0; i < WORKERS; i++) {
		const unsigned long before = atomic_load(&rounds[i]);

		for (int wait = 0; atomic_load(&rounds[i]) == before; wait++) {
			if (wait == TARGET_PATIENCE_MS)
				return "a thread hangs";
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
	}
	return atomic_load(&errors) ? "a block was damaged" : "right";
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char command[TARGET_COMMAND_MAX];

	is_storm = argc > 1 && strcmp(argv[1], "storm") == 0;

	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	target_say("ready\n");
	while (target_read(command))
		target_say("%s\n", check());
	return 0;
}
