/* SPDX-License-Identifier: MIT */
/*
 * pool_blocks.c - see pool_blocks.h. Two hash tables of chains, whose links are in the blocks: all
 * blocks of one pool are in one chain of the second.
 */
#include "pool_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define BITS_MIN 6u
#define HASH 0x9e3779b97f4a7c15ull

static uint32_t *head(const struct pool_blocks *blocks, uint32_t *heads, uint64_t key)
{
	return &heads[key * HASH >> (64 - blocks->bits)];
}

static void link(struct pool_blocks *blocks, uint32_t number)
{
	struct pool_block *block = &blocks->block[number - 1];
	uint32_t *at = head(blocks, blocks->at, block->address),
		 *in = head(blocks, blocks->in, block->pool);

	block->next_at = *at;
	*at = number;
	block->next_in = *in;
	*in = number;
}

static void unlink_in(struct pool_blocks *blocks, uint32_t number)
{
	uint32_t *in = head(blocks, blocks->in, blocks->block[number - 1].pool);

	while (*in != number)
		in = &blocks->block[*in - 1].next_in;
	*in = blocks->block[number - 1].next_in;
}

static void unlink_at(struct pool_blocks *blocks, uint32_t number)
{
	uint32_t *at = head(blocks, blocks->at, blocks->block[number - 1].address);

	while (*at != number)
		at = &blocks->block[*at - 1].next_at;
	*at = blocks->block[number - 1].next_at;
}

/* 0: none is live there. */
static uint32_t find(const struct pool_blocks *blocks, uint64_t address)
{
	uint32_t number = blocks->bits ? *head(blocks, blocks->at, address) : 0;

	while (number && blocks->block[number - 1].address != address)
		number = blocks->block[number - 1].next_at;
	return number;
}

static int grow(struct pool_blocks *blocks)
{
	const unsigned bits = blocks->bits ? blocks->bits + 1 : BITS_MIN;
	uint32_t *at = calloc((size_t)1 << bits, sizeof(*at)),
		 *in = calloc((size_t)1 << bits, sizeof(*in));

	if (!at || !in) {
		free(at);
		free(in);
		return -ENOMEM;
	}
	free(blocks->at);
	free(blocks->in);
	blocks->at = at;
	blocks->in = in;
	blocks->bits = bits;
	for (uint32_t number = 1; number <= blocks->block_count; number++)
		if (blocks->block[number - 1].address)
			link(blocks, number);
	return 0;
}

int pool_blocks_add(struct pool_blocks *blocks, const struct pool_block *block)
{
	uint32_t number = blocks->unused;

	if ((!blocks->bits || blocks->count >> blocks->bits) && grow(blocks))
		return -ENOMEM;
	if (number) {
		blocks->unused = blocks->block[number - 1].next_at;
	} else if (array_reserve(&blocks->block, &blocks->capacity, blocks->block_count,
				 sizeof(*blocks->block))) {
		return -ENOMEM;
	} else {
		number = (uint32_t)++blocks->block_count;
	}
	blocks->block[number - 1] = *block;
	blocks->count++;
	link(blocks, number);
	return 0;
}

/* It is in no chain any more. */
static void discard(struct pool_blocks *blocks, uint32_t number)
{
	blocks->block[number - 1] = (struct pool_block){.next_at = blocks->unused};
	blocks->unused = number;
	blocks->count--;
}

bool pool_blocks_take(struct pool_blocks *blocks, uint64_t address, uint64_t freed_ns,
		      struct pool_block *out_block)
{
	const uint32_t number = find(blocks, address);

	if (!number)
		return false;
	*out_block = blocks->block[number - 1];
	blocks->recent[blocks->recent_next++ % POOL_BLOCKS_RECENT] =
		(struct pool_freed){*out_block, freed_ns};
	unlink_at(blocks, number);
	unlink_in(blocks, number);
	discard(blocks, number);
	return true;
}

bool pool_blocks_put_back(struct pool_blocks *blocks, uint64_t address,
			  struct pool_freed *out_freed)
{
	for (size_t i = 1; i <= POOL_BLOCKS_RECENT; i++) {
		struct pool_freed *freed =
			&blocks->recent[(blocks->recent_next - i) % POOL_BLOCKS_RECENT];

		if (freed->block.address != address || !address)
			continue;
		*out_freed = *freed;
		*freed = (struct pool_freed){.freed_ns = 0};
		return !find(blocks, address);
	}
	return false;
}

static void put_in(struct pool_blocks *blocks, uint32_t number, uint64_t pool)
{
	struct pool_block *block = &blocks->block[number - 1];
	uint32_t *in = head(blocks, blocks->in, pool);

	unlink_in(blocks, number);
	block->pool = pool;
	block->next_in = *in;
	*in = number;
}

void pool_blocks_put_in(struct pool_blocks *blocks, uint64_t address, uint64_t pool)
{
	const uint32_t number = find(blocks, address);

	if (number)
		put_in(blocks, number, pool);
}

/* Of those in the pool, the one that comes first in its chain; 0: none. */
static uint32_t first_in(const struct pool_blocks *blocks, uint64_t pool)
{
	uint32_t number = blocks->bits ? *head(blocks, blocks->in, pool) : 0;

	while (number && blocks->block[number - 1].pool != pool)
		number = blocks->block[number - 1].next_in;
	return number;
}

void pool_blocks_move(struct pool_blocks *blocks, uint64_t from, uint64_t to)
{
	uint32_t number;

	while (from != to && (number = first_in(blocks, from)))
		put_in(blocks, number, to);
}

/* Those to be removed form a chain of their own, by next_at; what lies in one is put in front. */
void pool_blocks_drop(struct pool_blocks *blocks, uint64_t pool, pool_block_visit *visit,
		      void *context)
{
	uint32_t chain = pool ? find(blocks, pool) : 0, number;
	uint64_t of = pool;

	if (chain) {
		unlink_at(blocks, chain);
		unlink_in(blocks, chain);
		blocks->block[chain - 1].next_at = 0;
	}
	while (of) {
		while ((number = first_in(blocks, of))) {
			unlink_at(blocks, number);
			unlink_in(blocks, number);
			blocks->block[number - 1].next_at = chain;
			chain = number;
		}
		of = 0;
		if (chain) {
			struct pool_block gone = blocks->block[chain - 1];

			number = chain;
			chain = gone.next_at;
			of = gone.address;
			discard(blocks, number);
			visit(context, &gone);
		}
	}
}

void pool_blocks_close(struct pool_blocks *blocks)
{
	free(blocks->block);
	free(blocks->at);
	free(blocks->in);
	*blocks = (struct pool_blocks){.count = 0};
}
