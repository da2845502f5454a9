/* SPDX-License-Identifier: MIT */
/*
 * remote_test.c - a thread is borrowed again and again from programs that notice damage, and from injectors that die.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "victim.h"

enum { PAGES = 4, OPEN_DEADLINE_MS = 3000 };

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* ---- victims -------------------------------------------------------------------------------------------------------------------- */

/* Blocks that know what they are: a heap that was damaged while a thread stood in malloc is noticed at the latest when they are freed. */
static void storm(struct victim_page *page, unsigned seed)
{
	enum { BLOCKS = 64 };
	struct {
		unsigned char *bytes;
		size_t size;
	} block[BLOCKS] = {{0}};

	page->ready = 1;
	for (unsigned i = 0;; i++) {
		unsigned at = (seed = seed * 1103515245u + 12345u) >> 16 & (BLOCKS - 1);
		unsigned char tag = (unsigned char)(at * 7 + 1);

		for (size_t k = 0; block[at].bytes && k < block[at].size; k += 16)
			page->damage += block[at].bytes[k] != tag;
		free(block[at].bytes);
		block[at].size = (seed >> 8 & 0xfff) + 1;
		block[at].bytes = malloc(block[at].size);
		memset(block[at].bytes, tag, block[at].size);
		page->progress++;
	}
}

static void storm_alone(struct victim_page *page)
{
	storm(page, 1);
}

static void *storm_thread(void *page)
{
	storm(page, (unsigned)(uintptr_t)&page);
	return NULL;
}

static void storm_of_four(struct victim_page *page)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, storm_thread, page);
	storm(page, 2);
}

/* ---- what is done to them --------------------------------------------------------------------------------------------------- */

/* As many system calls as loading takes. */
static int map_and_unmap(struct remote *remote)
{
	int64_t result[PAGES], ignored;
	int error = 0;

	for (int i = 0; i < PAGES && !error; i++) {
		error = remote_syscall(remote, SYS_mmap, (const uint64_t[6]){0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0}, &result[i]);
		if (!error && result[i] < 0)
			return (int)result[i];
	}
	for (int i = 0; i < PAGES && !error; i++) {
		error = remote_syscall(remote, SYS_munmap, (const uint64_t[6]){(uint64_t)result[i], 4096}, &ignored);
		if (!error && ignored < 0)
			return (int)ignored;
	}
	return error;
}

static void borrow_once(const struct victim *victim, uint64_t *out_stopped_ns)
{
	struct remote remote;

	CHECK_EQ(remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets, OPEN_DEADLINE_MS), 0);
	CHECK_EQ(map_and_unmap(&remote), 0);
	CHECK_EQ(remote_close(&remote), 0);
	if (out_stopped_ns)
		*out_stopped_ns = remote.stopped_ns;
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void borrow_often(const struct victim *victim, size_t times, uint64_t limit_us)
{
	uint64_t stopped[1000], start = now_us();
	size_t done = 0;

	while (done < times && done < 1000 && now_us() - start < limit_us)
		borrow_once(victim, &stopped[done++]);
	qsort(stopped, done, sizeof(*stopped), compare_times);
	printf("# %s: %zu times, stopped for %.0f us (median), %.0f us (99 %%)\n", unit_current, done, (double)stopped[done / 2] / 1e3,
	       (double)stopped[done * 99 / 100] / 1e3);
}

UNIT_TEST(storm_of_one_thread_is_unharmed)
{
	struct victim victim;

	victim_start(&victim, storm_alone);
	borrow_often(&victim, 300, 1000000);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(storm_of_four_threads_is_unharmed)
{
	struct victim victim;

	victim_start(&victim, storm_of_four);
	borrow_often(&victim, 200, 1000000);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_MAIN()
