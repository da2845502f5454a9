/* SPDX-License-Identifier: MIT */
/*
 * Memory of sqlite: fill, move, free. Each answer is what was asked for and is there, in bytes and
 * blocks; then what sqlite gave for it (sqlite3_msize) and says is in use (sqlite3_memory_used):
 * more, as it rounds up, and as much in both.
 */
#include <sqlite3.h>

#include "../target.h"

#define BLOCKS 1000

static void *block[BLOCKS];
static size_t size[BLOCKS];

static void fill(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		size[i] = 17 * i + 1;
		block[i] = i % 2 ? sqlite3_malloc((int)size[i]) : sqlite3_malloc64(size[i]);
	}
}

static void move(void)
{
	for (unsigned i = 0; i < BLOCKS; i += 4) {
		size[i] = 3 * size[i] + 5;
		block[i] = sqlite3_realloc64(block[i], size[i]);
		block[i + 1] = sqlite3_realloc(block[i + 1], 9);
		size[i + 1] = 9;
	}
}

static void free_from(unsigned first, unsigned step)
{
	for (unsigned i = first; i < BLOCKS; i += step) {
		sqlite3_free(block[i]);
		block[i] = NULL;
		size[i] = 0;
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	sqlite3_initialize();
	const sqlite3_int64 before = sqlite3_memory_used();
	target_say("ready\n");
	while (target_read(command)) {
		size_t asked = 0, blocks = 0, given = 0;

		if (!strcmp(command, "fill"))
			fill();
		else if (!strcmp(command, "move"))
			move();
		else if (!strcmp(command, "free"))
			free_from(0, 3);
		else if (!strcmp(command, "end"))
			free_from(0, 1);
		for (unsigned i = 0; i < BLOCKS; i++) {
			asked += size[i];
			blocks += block[i] != NULL;
			given += block[i] ? sqlite3_msize(block[i]) : 0;
		}
		target_say("%zu %zu %zu %lld\n", asked, blocks, given,
			   (long long)(sqlite3_memory_used() - before));
	}
	return 0;
}
