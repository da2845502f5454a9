/* SPDX-License-Identifier: MIT */
/*
 * Ten functions that allocate blocks from 16 bytes to 4 MB, in an order that depends on a seed, by
 * all the ways there are, and free some or all of them again. What each has allocated, and how much
 * of that is still live, is counted exactly. Commands: go SEED = allocate, answered with "truth"
 * and NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS for each site, all since the last clear; clear =
 * free everything. SHARE=N, where that takes too long, is a definition by which there are so many
 * times fewer blocks.
 */
#include "../sites.h"

#include <stdbool.h>

#ifndef SHARE
#define SHARE 1
#endif

struct site {
	const char *name;
	void *(*allocate)(size_t size);
	size_t smallest, largest; /* sizes are drawn from here */
	uint64_t stay, go;        /* blocks */
	bool grows;               /* from half its size: two allocations, of which one is left */
	uint64_t left, stay_left; /* to come */
	struct site_truth truth;
};

SITE(site_16, malloc(size))
SITE(site_64, calloc(size / 16, 16))
SITE(site_strings, malloc(size))
SITE(site_grown, realloc(malloc(size / 2), size))
SITE(site_mixed, aligned(64, size))
SITE(site_64k, malloc(size))
SITE(site_256k, aligned_alloc(4096, size))
SITE(site_4m, malloc(size))
SITE(site_128, reallocarray(NULL, size / 8, 8))
SITE(site_gone, malloc(size))

static struct site sites[] = {
	{.name = "site_16",
	 .allocate = site_16,
	 .smallest = 16,
	 .largest = 16,
	 .stay = 400000,
	 .go = 200000},
	{.name = "site_64", .allocate = site_64, .smallest = 64, .largest = 64, .stay = 1000000},
	{.name = "site_strings",
	 .allocate = site_strings,
	 .smallest = 1,
	 .largest = 511,
	 .stay = 100000,
	 .go = 100000},
	{.name = "site_grown",
	 .allocate = site_grown,
	 .smallest = 1024,
	 .largest = 1024,
	 .stay = 60000,
	 .grows = true},
	{.name = "site_mixed",
	 .allocate = site_mixed,
	 .smallest = 20,
	 .largest = 8172,
	 .stay = 4000,
	 .go = 4000},
	{.name = "site_64k",
	 .allocate = site_64k,
	 .smallest = 65536,
	 .largest = 65536,
	 .stay = 160,
	 .go = 40},
	{.name = "site_256k",
	 .allocate = site_256k,
	 .smallest = 262144,
	 .largest = 262144,
	 .stay = 16},
	{.name = "site_4m",
	 .allocate = site_4m,
	 .smallest = 4 << 20,
	 .largest = 4 << 20,
	 .stay = 8,
	 .go = 4},
	{.name = "site_128", .allocate = site_128, .smallest = 128, .largest = 128, .stay = 8192},
	{.name = "site_gone", .allocate = site_gone, .smallest = 48, .largest = 48, .go = 200000},
};
#define SITES (sizeof(sites) / sizeof(sites[0]))
#define BLOCKS_MAX 8000000u
/*
 * Slowly: so many in a row, and then a pause, in which who is told of each has the time to read it,
 * whatever else goes on.
 */
#define BREATH 10000u
#define BREATH_US 10000

static void *kept[BLOCKS_MAX]; /* not from malloc: it would be counted */
static size_t kept_count;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void allocate_one(struct site *site, uint64_t *state)
{
	const size_t size =
		site->smallest + random_next(state) % (site->largest - site->smallest + 1);
	const bool stays = random_next(state) % site->left < site->stay_left;
	void *block = site->allocate(size);

	site->left--;
	site->stay_left -= stays;
	site_allocates(&site->truth, size, site->grows);
	if (stays && kept_count < BLOCKS_MAX) {
		site_keeps(&site->truth, size);
		kept[kept_count++] = block;
	} else {
		free(block);
	}
}

/* Of few blocks one is left. */
static uint64_t shared(uint64_t blocks)
{
	return (blocks + SHARE - 1) / SHARE;
}

/* A site is drawn as often as it has blocks left, so that they are done about the same time. */
static void allocate_all(uint64_t seed, bool is_slow)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1, left = 0;

	for (size_t i = 0; i < SITES; i++) {
		sites[i].stay_left = shared(sites[i].stay);
		sites[i].left = sites[i].stay_left + shared(sites[i].go);
		left += sites[i].left;
	}
	for (; left; left--) {
		uint64_t drawn = random_next(&state) % left;
		struct site *site = sites;

		for (; drawn >= site->left; site++)
			drawn -= site->left;
		allocate_one(site, &state);
		if (is_slow && left % BREATH == 0)
			usleep(BREATH_US);
	}
}

static void say_truth(void)
{
	char line[2048] = "truth";
	size_t used = strlen(line);

	for (size_t i = 0; i < SITES; i++)
		used += site_print(line + used, sizeof(line) - used, sites[i].name,
				   &sites[i].truth);
	target_say("%s\n", line);
}

static void clear(void)
{
	while (kept_count)
		free(kept[--kept_count]);
	for (size_t i = 0; i < SITES; i++)
		sites[i].truth = (struct site_truth){0};
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "go ", 3) == 0 || strncmp(command, "slow ", 5) == 0) {
			allocate_all(strtoull(strchr(command, ' '), NULL, 10), *command == 's');
			say_truth();
		} else {
			clear();
			target_say("clear\n");
		}
	}
	return 0;
}
