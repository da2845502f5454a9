/* SPDX-License-Identifier: MIT */
/*
 * allocating.c - allocates by each function of C, below a chain of twenty calls, in main and in a
 * thread, and knows what it holds. It is linked with each allocator and each libc, so that it uses
 * only what all of them have.
 *
 * "go" is answered by NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS for each function, since the start.
 */
#include <malloc.h>
#include <pthread.h>

#include "../integration/sites.h"

#define ROUNDS 40
#define KEPT_OF 4 /* of so many blocks one is kept */
#define NOINLINE __attribute__((noinline, noclone))

struct site {
	const char *name;
	void *(*allocate)(size_t size);
	size_t size;
	struct site_truth truth;
};

SITE(site_malloc, malloc(size))
SITE(site_calloc, calloc(size / 10, 10))
SITE(site_realloc, realloc(malloc(size / 2), size))
SITE(site_posix_memalign, aligned(64, size))
SITE(site_aligned_alloc, aligned_alloc(256, size))
SITE(site_memalign, memalign(4096, size))
SITE(site_large, malloc(size))

static struct site sites[] = {
	{.name = "site_malloc", .allocate = site_malloc, .size = 100},
	{.name = "site_calloc", .allocate = site_calloc, .size = 220},
	{.name = "site_realloc", .allocate = site_realloc, .size = 400},
	{.name = "site_posix_memalign", .allocate = site_posix_memalign, .size = 1000},
	{.name = "site_aligned_alloc", .allocate = site_aligned_alloc, .size = 512},
	{.name = "site_memalign", .allocate = site_memalign, .size = 5000},
	{.name = "site_large", .allocate = site_large, .size = 300000},
};
#define SITES (sizeof(sites) / sizeof(sites[0]))

static void *kept[1 << 16]; /* not from malloc: it would be counted */
static size_t kept_count;

NOINLINE static void level_1(void)
{
	for (size_t i = 0; i < SITES * ROUNDS; i++) {
		struct site *site = &sites[i % SITES];
		void *block = site->allocate(site->size);

		*(volatile char *)block = 1;
		site_allocates(&site->truth, site->size, site->allocate == site_realloc);
		if (i / SITES % KEPT_OF || kept_count == sizeof(kept) / sizeof(kept[0])) {
			free(block);
			continue;
		}
		kept[kept_count++] = block;
		site_keeps(&site->truth, site->size);
	}
}

/* Code behind the call, so that it is none at the end of a function, which leaves no frame. */
#define LEVEL(name, inner)                        \
	NOINLINE static void name(void)           \
	{                                         \
		inner();                          \
		__asm__ volatile("" : : : "memory"); \
	}

LEVEL(level_2, level_1)
LEVEL(level_3, level_2)
LEVEL(level_4, level_3)
LEVEL(level_5, level_4)
LEVEL(level_6, level_5)
LEVEL(level_7, level_6)
LEVEL(level_8, level_7)
LEVEL(level_9, level_8)
LEVEL(level_10, level_9)
LEVEL(level_11, level_10)
LEVEL(level_12, level_11)
LEVEL(level_13, level_12)
LEVEL(level_14, level_13)
LEVEL(level_15, level_14)
LEVEL(level_16, level_15)
LEVEL(level_17, level_16)
LEVEL(level_18, level_17)
LEVEL(level_19, level_18)
LEVEL(level_20, level_19)

NOINLINE static void *in_thread(void *unused)
{
	level_20();
	__asm__ volatile("");
	return unused;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		pthread_t thread;

		level_20();
		if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL))
			abort();
		target_say("truth");
		for (size_t i = 0; i < SITES; i++) {
			char figures[256];

			site_print(figures, sizeof(figures), sites[i].name, &sites[i].truth);
			target_say("%s", figures);
		}
		target_say("\n");
	}
	return 0;
}
