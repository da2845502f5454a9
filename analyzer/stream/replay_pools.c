/* SPDX-License-Identifier: MIT */
/*
 * replay_pools.c - the records of functions that the user has named: which blocks of pools were
 * sampled on which stack, and which of them are live. They are in no figure of malloc's blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool_rows.h"
#include "replay_state.h"
#include "row_history.h"

struct accounting {
	struct profile *profile;
	uint64_t time_ns;
};

static double lifetime_ns(const struct pool_block *block, uint64_t freed_ns)
{
	return freed_ns > block->born_ns ? (double)(freed_ns - block->born_ns) : 0;
}

static void gone(void *context, const struct pool_block *block)
{
	const struct accounting *accounting = context;
	struct profile_row *row = &accounting->profile->pooled[block->row];

	row_history_died(accounting->profile, row, block->born_ns, accounting->time_ns);
	row->inuse_count--;
	row->inuse_bytes -= block->bytes;
	row->inuse_ns -= (double)block->born_ns;
	row->freed_count++;
	row->freed_ns += lifetime_ns(block, accounting->time_ns);
}

static void lives(struct profile *profile, const struct pool_block *block)
{
	struct profile_row *row = &profile->pooled[block->row];

	row_history_lives(profile, row, block->born_ns);
	row->inuse_count++;
	row->inuse_bytes += block->bytes;
	row->inuse_ns += (double)block->born_ns;
}

static void take(struct replay *replay, uint64_t address, uint64_t time_ns)
{
	struct accounting accounting = {replay->profile, time_ns};
	struct pool_block block;

	if (pool_blocks_take(&replay->profile->pool_blocks, address, time_ns, &block))
		gone(&accounting, &block);
}

static int come_back(struct replay *replay, uint64_t address)
{
	struct profile *profile = replay->profile;
	struct pool_freed freed;

	if (!pool_blocks_put_back(&profile->pool_blocks, address, &freed))
		return 0;
	struct profile_row *row = &profile->pooled[freed.block.row];

	row_history_came_back(profile, row, freed.block.born_ns, freed.freed_ns);
	row->freed_count--;
	row->freed_ns -= lifetime_ns(&freed.block, freed.freed_ns);
	lives(profile, &freed.block);
	return pool_blocks_add(&profile->pool_blocks, &freed.block);
}

static int row_of(struct replay *replay, const struct hi_stream_alloc *pooled, uint32_t *out_row)
{
	struct profile *profile = replay->profile;
	const struct profile_named *named = &profile->named[pooled->function - HI_FN_NAMED_ALLOC_0];
	struct label label = {.key = POOL_LABEL, .text = named->name ? named->name : "unknown"};
	struct profile_row_key key = {.size_class = profile_size_class(pooled->bytes),
				      .interval = pooled->interval};
	uint16_t end;

	return replay_stack_of(replay, pooled, &key.stack, &end) ||
			       labels_add(&profile->labels, &label, 1, &key.labels) ||
			       profile_pooled_at(profile, &key, out_row)
		       ? -ENOMEM
		       : 0;
}

int replay_on_pooled(struct replay *replay, const struct hi_stream_alloc *pooled)
{
	struct profile *profile = replay->profile;
	struct pool_block block = {.address = pooled->address,
				   .bytes = pooled->bytes,
				   .born_ns = replay_since(replay, pooled->time_ns)};

	if (!pooled->address || pooled->bytes > BLOCK_BYTES_MAX || !pooled->interval ||
	    pooled->interval > INTERVAL_MAX || pooled->function < HI_FN_NAMED_ALLOC_0 ||
	    pooled->function >= HI_FN_NAMED_FREE_0) {
		replay_bad(replay, "a block of a pool that cannot be");
		return 0;
	}
	profile->has_pooled = true;
	if (row_of(replay, pooled, &block.row))
		return -ENOMEM;
	/* what was there before has gone unseen */
	take(replay, block.address, block.born_ns);
	struct profile_row *row = &profile->pooled[block.row];

	row_history_allocated(profile, row, block.born_ns);
	row->first_ns = row->alloc_count ? row->first_ns : block.born_ns;
	row->last_ns = block.born_ns;
	row->alloc_count++;
	row->alloc_bytes += block.bytes;
	lives(profile, &block);
	return pool_blocks_add(&profile->pool_blocks, &block);
}

int replay_on_pool(struct replay *replay, const struct hi_stream_pool *record)
{
	struct pool_blocks *blocks = &replay->profile->pool_blocks;
	const uint64_t time_ns = replay_since(replay, record->time_ns);
	struct accounting accounting = {replay->profile, time_ns};

	replay->profile->has_pooled = true;
	switch (record->record.flags) {
	case HI_NAMED_POOLED:
		pool_blocks_put_in(blocks, record->address, record->pool);
		return 0;
	case HI_NAMED_FREED:
		take(replay, record->address, time_ns);
		return 0;
	case HI_NAMED_KEPT:
		return come_back(replay, record->address);
	case HI_NAMED_POOL_GONE:
		pool_blocks_drop(blocks, record->pool, gone, &accounting);
		return 0;
	case HI_NAMED_POOL_MOVED:
		pool_blocks_move(blocks, record->address, record->pool);
		return 0;
	default:
		return 0; /* what later versions may add */
	}
}

int replay_on_named(struct replay *replay, const struct hi_stream_named *record)
{
	struct profile_named *named;

	if (record->function < HI_FN_NAMED_ALLOC_0 || record->function >= HI_FN_NAMED_FREE_0) {
		replay_bad(replay, "a named function that cannot be");
		return 0;
	}
	replay->profile->has_pooled = true;
	named = &replay->profile->named[record->function - HI_FN_NAMED_ALLOC_0];
	named->calls = record->calls;
	named->senseless = record->senseless;
	if (!named->name)
		named->name = strndup((const char *)(record + 1), record->name_size);
	return named->name ? 0 : -ENOMEM;
}
