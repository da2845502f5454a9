/* SPDX-License-Identifier: MIT */
/*
 * block_index.c - see block_index.h. A word is compared with the range of all blocks first, which
 * excludes nearly all words. Then first[] has the blocks of its region that begin near it, and the
 * rest is a binary search.
 */
#include "block_index.h"

#include <errno.h>
#include <stdlib.h>

#define REGION_GAP (1ull << 20)

/* The end of a block, for pointers: a block of no bytes has one. */
static uint64_t end_of(const struct mark_block *block)
{
	const uint64_t bytes = block->bytes ? block->bytes : 1;

	return block->address + bytes > block->address ? block->address + bytes : UINT64_MAX;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Counts them and, where there is room, writes them. Blocks are sorted, but may overlap. */
static size_t find_regions(const struct block_index *index, struct block_region *out_region)
{
	struct block_region region = {0};
	size_t count = 0;

	for (uint32_t i = 0; i < index->count; i++) {
		const uint64_t lo = index->block[i].address, hi = end_of(&index->block[i]);

		if (!count || (lo > region.hi && lo - region.hi > REGION_GAP)) {
			region = (struct block_region){.lo = lo, .hi = hi};
			count++;
		}
		region.hi = hi > region.hi ? hi : region.hi;
		if (out_region)
			out_region[count - 1] = region;
	}
	return count;
}

static const struct block_region *region_of(const struct block_index *index, uint64_t word)
{
	size_t low = 0, high = index->regions;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (index->region[middle].lo <= word)
			low = middle + 1;
		else
			high = middle;
	}
	return low && word <= index->region[low - 1].hi ? &index->region[low - 1] : NULL;
}

/* The least shift with which the regions have no more elements than there are blocks. */
static unsigned choose_shift(const struct block_index *index)
{
	uint64_t span = 0;
	unsigned shift = 4;

	for (size_t i = 0; i < index->regions; i++)
		span += index->region[i].hi - index->region[i].lo;
	while (shift < 63 && span >> shift > index->count)
		shift++;
	return shift;
}

/* Gives each region its elements of first[]. Returns how many there are. */
static size_t place_regions(struct block_index *index)
{
	size_t count = 0;

	for (size_t i = 0; i < index->regions; i++) {
		struct block_region *region = &index->region[i];

		region->first = count;
		count += (size_t)((region->hi - region->lo) >> index->shift) + 2;
	}
	return count;
}

/* Of a region: first[i] is the number of blocks that begin before lo + (i << shift). */
static void fill_first(struct block_index *index)
{
	uint32_t block = 0;

	for (size_t i = 0; i < index->regions; i++) {
		const struct block_region *region = &index->region[i];
		const size_t size = (size_t)((region->hi - region->lo) >> index->shift) + 2;

		for (size_t at = 0; at < size; at++) {
			while (block < index->count && index->block[block].address <= region->hi &&
			       (index->block[block].address - region->lo) >> index->shift < at)
				block++;
			index->first[region->first + at] = block;
		}
	}
}

/* ---- words that are pointers ----------------------------------------------------------------- */

bool block_index_search(const struct block_index *index, uint64_t word, uint32_t *out_block)
{
	const struct block_region *region = region_of(index, word);

	if (!region)
		return false;
	const size_t near = region->first + (size_t)((word - region->lo) >> index->shift);
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
	index->regions = find_regions(index, NULL);
	index->region = calloc(index->regions, sizeof(*index->region));
	if (index->region) {
		find_regions(index, index->region);
		index->lo = index->region[0].lo;
		index->hi = index->region[index->regions - 1].hi;
		index->shift = choose_shift(index);
		index->first = malloc(place_regions(index) * sizeof(*index->first));
	}
	if (!index->first) {
		block_index_close(index);
		return -ENOMEM;
	}
	fill_first(index);
	return 0;
}

void block_index_close(struct block_index *index)
{
	free(index->region);
	free(index->first);
	*index = (struct block_index){0};
}

/* ---- words of memory ------------------------------------------------------------------------- */

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
