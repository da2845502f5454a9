/* SPDX-License-Identifier: MIT */
/*
 * block_index.c - see block_index.h. A word is compared with the range of all blocks first, which
 * excludes nearly all words. Then first[] has the blocks that begin near it, and the rest is a
 * binary search.
 */
#include "block_index.h"

#include <errno.h>
#include <stdlib.h>

/* The end of a block, for pointers: a block of no bytes has one. */
static uint64_t end_of(const struct mark_block *block)
{
	const uint64_t bytes = block->bytes ? block->bytes : 1;

	return block->address + bytes > block->address ? block->address + bytes : UINT64_MAX;
}

/* The least shift with which the blocks' range has no more elements than there are blocks. */
static unsigned choose_shift(uint64_t span, uint32_t count)
{
	unsigned shift = 4;

	while (shift < 63 && span >> shift > count)
		shift++;
	return shift;
}

static size_t first_count(const struct block_index *index)
{
	return (size_t)((index->hi - index->lo) >> index->shift) + 2;
}

/* first[i]: number of blocks that begin before lo + (i << shift). */
static void fill_first(struct block_index *index)
{
	const size_t size = first_count(index);
	uint32_t block = 0;

	for (size_t i = 0; i < size; i++) {
		while (block < index->count &&
		       (index->block[block].address - index->lo) >> index->shift < i)
			block++;
		index->first[i] = block;
	}
}

bool block_index_search(const struct block_index *index, uint64_t word, uint32_t *out_block)
{
	const size_t near = (size_t)((word - index->lo) >> index->shift);
	uint32_t low = index->first[near], high = index->first[near + 1];

	/* the number of blocks that begin at the word or before it */
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (index->block[middle].address <= word)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	const struct mark_block *block = &index->block[low - 1];

	if (word >= end_of(block) &&
	    !(block->bytes == MARK_WORD_BYTES && word == block->address + MARK_WORD_BYTES))
		return false;
	*out_block = low - 1;
	return true;
}

bool block_index_find_from_block(const struct block_index *index, const struct mark_links *links,
				 uint64_t at, uint64_t word, uint32_t *out_block)
{
	uint32_t block;

	if (!block_index_find(index, word, &block) ||
	    (links && links->is_link(links->context, &index->block[block], at, word)))
		return false;
	*out_block = block;
	return true;
}

int block_index_open(struct block_index *index, const struct mark_block *block, size_t count)
{
	*index = (struct block_index){.block = block};
	if (count >= MARK_BLOCKS_MAX)
		return -E2BIG;
	if (!count)
		return 0;
	index->count = (uint32_t)count;
	index->lo = block[0].address;
	for (size_t i = 0; i < count; i++)
		if (end_of(&block[i]) > index->hi)
			index->hi = end_of(&block[i]);
	index->shift = choose_shift(index->hi - index->lo, index->count);
	index->first = malloc(first_count(index) * sizeof(*index->first));
	if (!index->first) {
		*index = (struct block_index){0};
		return -ENOMEM;
	}
	fill_first(index);
	return 0;
}

void block_index_close(struct block_index *index)
{
	free(index->first);
	*index = (struct block_index){0};
}

/* ---- words ----------------------------------------------------------------------------------- */

int mark_memory_walk(const struct mark_memory *memory, uint64_t lo, uint64_t hi, mark_visit *visit,
		     void *visitor)
{
	const uint64_t begin = (lo + MARK_WORD_BYTES - 1) / MARK_WORD_BYTES * MARK_WORD_BYTES;

	return begin >= lo && begin < hi ? memory->walk(memory->context, begin, hi, visit, visitor)
					 : 0;
}

int mark_memory_walk_block(const struct mark_memory *memory, const struct mark_block *block,
			   mark_visit *visit, void *visitor)
{
	return mark_memory_walk(memory, block->address, end_of(block), visit, visitor);
}
