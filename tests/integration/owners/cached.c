/* SPDX-License-Identifier: MIT */
/*
 * cached.c - a cache in C: a struct with a table of entries, each with a text. Says how many bytes
 * and blocks it is, and waits for the end of its input.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 1000

struct entry {
	long number;
	char *text;
	long room[6];
};
struct cache {
	long size, used;
	struct entry **table;
	long room[9];
};

struct cache *cache;
static size_t bytes, blocks;

static void *counted(size_t size)
{
	void *block = calloc(1, size);

	bytes += malloc_usable_size(block);
	blocks++;
	return block;
}

static __attribute__((noinline)) void fill(void)
{
	cache = counted(sizeof(*cache));
	cache->table = counted(ENTRIES * sizeof(*cache->table));
	for (int i = 0; i < ENTRIES; i++) {
		struct entry *entry = cache->table[i] = counted(sizeof(*entry));

		entry->number = i;
		entry->text = counted(200);
		memset(entry->text, 'a' + i % 26, 199);
	}
}

static __attribute__((noinline)) void wipe(void)
{
	volatile char room[16 << 10];

	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	char byte;

	fill();
	wipe();
	printf("{\"cache\":{\"bytes\":%zu,\"blocks\":%zu}}\n", bytes, blocks);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
