/* SPDX-License-Identifier: MIT */
/*
 * live.c - open addressing with linear probing, at most half full; a block that leaves is replaced by what follows it, so there are no tombstones.
 */
#include "live.h"

#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define LIVE_FIRST_SIZE 1024u

static size_t live_home(const struct live *live, uint64_t address)
{
	return hash_number(address) & (live->size - 1);
}

/* Where the block is, or where it would go. */
static size_t live_seek(const struct live *live, uint64_t address)
{
	size_t at = live_home(live, address);

	while (live->block[at].address && live->block[at].address != address)
		at = (at + 1) & (live->size - 1);
	return at;
}

static int live_grow(struct live *live)
{
	const struct live_block *old = live->block;
	const size_t old_size = live->size, size = old_size ? old_size * 2 : LIVE_FIRST_SIZE;
	struct live_block *blocks = calloc(size, sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	live->block = blocks;
	live->size = size;
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].address)
			blocks[live_seek(live, old[i].address)] = old[i];
	}
	free((void *)old);
	return 0;
}

int live_add(struct live *live, const struct live_block *block)
{
	if (live->count >= live->size / 2 && live_grow(live))
		return -ENOMEM;
	live->block[live_seek(live, block->address)] = *block;
	live->count++;
	return 0;
}

/* Closes the hole: whatever follows without a gap, and whose home does not lie behind the hole, moves up into it. */
static void live_remove(struct live *live, size_t hole)
{
	const size_t mask = live->size - 1;

	for (size_t at = (hole + 1) & mask; live->block[at].address; at = (at + 1) & mask) {
		size_t home = live_home(live, live->block[at].address);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			live->block[hole] = live->block[at];
			hole = at;
		}
	}
	live->block[hole].address = 0;
	live->count--;
}

bool live_has(const struct live *live, uint64_t address)
{
	return live->count && address && live->block[live_seek(live, address)].address;
}

bool live_take(struct live *live, uint64_t address, uint64_t time_ns, struct live_block *out_block)
{
	if (!live_has(live, address))
		return false;
	const size_t at = live_seek(live, address);
	live->block[at].freed_ns = time_ns;
	*out_block = live->block[at];
	live->recent[live->recent_next++ % LIVE_RECENT] = *out_block;
	live_remove(live, at);
	return true;
}

bool live_put_back(struct live *live, uint64_t address, struct live_block *out_block)
{
	for (size_t back = 1; back <= LIVE_RECENT && back <= live->recent_next && address; back++) {
		struct live_block *block = &live->recent[(live->recent_next - back) % LIVE_RECENT];

		if (block->address == address) {
			*out_block = *block;
			block->address = 0;
			return true;
		}
	}
	return false;
}

void live_close(struct live *live)
{
	free(live->block);
	live->block = NULL;
	live->size = live->count = 0;
}
