/* SPDX-License-Identifier: MIT */
/*
 * Ten functions that allocate blocks from 16 bytes to 4 MB, in an order that depends on the seed, and free some, most or all of them again. What each has
 * allocated, and how much of that is still live, is counted exactly. Commands: go = allocate; truth = into the file argv[2], one line a site:
 * name, live bytes, live blocks, allocated bytes, allocated blocks.
 */
#include "../target.h"

#include <stdbool.h>
#include <stdint.h>

struct site {
	const char *name;
	void *(*allocate)(size_t size);
	size_t smallest, largest; /* sizes are drawn from here */
	uint64_t blocks;          /* to come */
	unsigned live_percent;    /* of them stay */
	bool grows;               /* from half its size: two allocations, of which one is left */
	uint64_t live_bytes, live_count, bytes, count;
};

/* noinline and not a tail call, so that each site is a frame of its own. */
#define SITE(name, call)                                         \
	__attribute__((noinline)) static void *name(size_t size) \
	{                                                        \
		void *block = call;                              \
		__asm__ volatile("" : "+r"(block) : : "memory"); \
		return block;                                    \
	}

static void *aligned(size_t alignment, size_t size)
{
	void *block = NULL;

	return posix_memalign(&block, alignment, size) ? NULL : block;
}

SITE(site_16, malloc(size))
SITE(site_48, calloc(3, size / 3))
SITE(site_strings, malloc(size))
SITE(site_grown, realloc(malloc(size / 2), size))
SITE(site_1k, calloc(1, size))
SITE(site_aligned, aligned(64, size))
SITE(site_mixed, malloc(size))
SITE(site_64k, malloc(size))
SITE(site_512k, malloc(size))
SITE(site_4m, malloc(size))

static struct site sites[] = {
	{.name = "site_16", .allocate = site_16, .smallest = 16, .largest = 16, .blocks = 200000, .live_percent = 50},
	{.name = "site_48", .allocate = site_48, .smallest = 48, .largest = 48, .blocks = 60000, .live_percent = 0},
	{.name = "site_strings", .allocate = site_strings, .smallest = 1, .largest = 200, .blocks = 80000, .live_percent = 30},
	{.name = "site_grown", .allocate = site_grown, .smallest = 400, .largest = 600, .blocks = 20000, .live_percent = 10, .grows = true},
	{.name = "site_1k", .allocate = site_1k, .smallest = 1024, .largest = 1024, .blocks = 10000, .live_percent = 100},
	{.name = "site_aligned", .allocate = site_aligned, .smallest = 3000, .largest = 5000, .blocks = 4000, .live_percent = 2},
	{.name = "site_mixed", .allocate = site_mixed, .smallest = 20, .largest = 40000, .blocks = 1000, .live_percent = 60},
	{.name = "site_64k", .allocate = site_64k, .smallest = 65536, .largest = 65536, .blocks = 200, .live_percent = 0},
	{.name = "site_512k", .allocate = site_512k, .smallest = 500000, .largest = 540000, .blocks = 40, .live_percent = 50},
	{.name = "site_4m", .allocate = site_4m, .smallest = 4 << 20, .largest = 4 << 20, .blocks = 10, .live_percent = 30},
};
#define SITES (sizeof sites / sizeof sites[0])

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void allocate_one(struct site *site, uint64_t *state)
{
	const size_t size = site->smallest + random_next(state) % (site->largest - site->smallest + 1);
	const bool stays = random_next(state) % 100 < site->live_percent;
	void *block = site->allocate(size);

	site->count += site->grows ? 2 : 1;
	site->bytes += site->grows ? size + size / 2 : size;
	if (stays) {
		site->live_count++;
		site->live_bytes += size;
	} else {
		free(block);
	}
}

/* A site is drawn as often as it has blocks left, so that they are done about the same time. */
static void allocate_all(uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1, left = 0;

	for (size_t i = 0; i < SITES; i++)
		left += sites[i].blocks;
	for (; left; left--) {
		uint64_t drawn = random_next(&state) % left;
		struct site *site = sites;

		for (; drawn >= site->blocks; site++)
			drawn -= site->blocks;
		site->blocks--;
		allocate_one(site, &state);
	}
}

static void write_truth(const char *path)
{
	FILE *file = fopen(path, "w");

	for (size_t i = 0; i < SITES; i++)
		fprintf(file, "%s %lu %lu %lu %lu\n", sites[i].name, sites[i].live_bytes, sites[i].live_count, sites[i].bytes, sites[i].count);
	fclose(file);
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];

	if (argc != 3)
		return 2;
	target_say("ready\n");
	while (target_read(command)) {
		if (strcmp(command, "go") == 0)
			allocate_all(strtoull(argv[1], NULL, 10));
		else
			write_truth(argv[2]);
		target_say("done\n");
	}
	return 0;
}
