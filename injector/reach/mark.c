/* SPDX-License-Identifier: MIT */
/*
 * mark.c - see mark.h. A word is compared with the range of all blocks first, which excludes nearly
 * all words. Then first[] has the blocks that begin near it, and the rest is a binary search.
 *
 * Blocks that were found and not yet looked through are in todo[]. Each comes there once, so that
 * it never overflows, and nothing is recursive.
 */
#include "mark.h"

#include <errno.h>
#include <stdlib.h>

#define NO_LEADER UINT32_MAX

/* The end of a block, for pointers: a block of no bytes has one. */
static uint64_t end_of(const struct mark_block *block)
{
	const uint64_t bytes = block->bytes ? block->bytes : 1;

	return block->address + bytes > block->address ? block->address + bytes : UINT64_MAX;
}

/* ---- finding the block of a word ------------------------------------------------------------- */

/* The least shift with which the blocks' range has no more elements than there are blocks. */
static unsigned choose_shift(uint64_t span, uint32_t count)
{
	unsigned shift = 4;

	while (shift < 63 && span >> shift > count)
		shift++;
	return shift;
}

static size_t first_count(const struct marks *marks)
{
	return (size_t)((marks->hi - marks->lo) >> marks->shift) + 2;
}

/* first[i]: number of blocks that begin before lo + (i << shift). */
static void fill_first(struct marks *marks)
{
	const size_t size = first_count(marks);
	uint32_t block = 0;

	for (size_t i = 0; i < size; i++) {
		while (block < marks->count &&
		       (marks->block[block].address - marks->lo) >> marks->shift < i)
			block++;
		marks->first[i] = block;
	}
}

static bool find(const struct marks *marks, uint64_t word, uint32_t *out_index)
{
	if (word < marks->lo || word > marks->hi || !marks->count)
		return false;
	const size_t near = (size_t)((word - marks->lo) >> marks->shift);
	uint32_t low = marks->first[near], high = marks->first[near + 1];

	/* the number of blocks that begin at the word or before it */
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (marks->block[middle].address <= word)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	const struct mark_block *block = &marks->block[low - 1];

	if (word >= end_of(block) &&
	    !(block->bytes == MARK_WORD_BYTES && word == block->address + MARK_WORD_BYTES))
		return false;
	*out_index = low - 1;
	return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

int marks_open(struct marks *marks, const struct mark_block *block, size_t count)
{
	*marks = (struct marks){.block = block};
	if (count >= MARK_BLOCKS_MAX)
		return -E2BIG;
	if (!count)
		return 0;
	marks->count = (uint32_t)count;
	marks->lo = block[0].address;
	for (size_t i = 0; i < count; i++)
		if (end_of(&block[i]) > marks->hi)
			marks->hi = end_of(&block[i]);
	marks->shift = choose_shift(marks->hi - marks->lo, marks->count);
	marks->state = calloc(count, sizeof(*marks->state));
	marks->leader = malloc(count * sizeof(*marks->leader));
	marks->todo = malloc(count * sizeof(*marks->todo));
	marks->first = malloc(first_count(marks) * sizeof(*marks->first));
	if (!marks->state || !marks->leader || !marks->todo || !marks->first) {
		marks_close(marks);
		return -ENOMEM;
	}
	fill_first(marks);
	for (size_t i = 0; i < count; i++)
		marks->leader[i] = NO_LEADER;
	return 0;
}

void marks_close(struct marks *marks)
{
	free(marks->state);
	free(marks->leader);
	free(marks->todo);
	free(marks->first);
	*marks = (struct marks){0};
}

/* ---- marking --------------------------------------------------------------------------------- */

void marks_block(struct marks *marks, uint32_t index)
{
	if (marks->state[index] == MARK_REACHED)
		return;
	marks->state[index] = MARK_REACHED;
	marks->todo[marks->todo_count++] = index;
}

void marks_words(struct marks *marks, const uint64_t *word, size_t count)
{
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find(marks, word[i], &index))
			marks_block(marks, index);
}

void marks_words_but(struct marks *marks, const uint64_t *word, size_t count, mark_is_none *is_none)
{
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find(marks, word[i], &index) && !is_none(&marks->block[index], word[i]))
			marks_block(marks, index);
}

/* find() for a word that is in a block. */
static bool find_from_block(const struct marks *marks, uint64_t at, uint64_t word,
			    uint32_t *out_index)
{
	const struct mark_links *links = marks->links;
	uint32_t index;

	if (!find(marks, word, &index) ||
	    (links && links->is_link(links->context, &marks->block[index], at, word)))
		return false;
	*out_index = index;
	return true;
}

static void reach_from_block(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find_from_block(visitor, at + i * MARK_WORD_BYTES, word[i], &index))
			marks_block(visitor, index);
}

static void reach(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	(void)at;
	marks_words(visitor, word, count);
}

int marks_range(struct marks *marks, const struct mark_memory *memory, uint64_t lo, uint64_t hi)
{
	const uint64_t begin = (lo + MARK_WORD_BYTES - 1) / MARK_WORD_BYTES * MARK_WORD_BYTES;

	return begin >= lo && begin < hi ? memory->walk(memory->context, begin, hi, reach, marks)
					 : 0;
}

static int walk_block(const struct marks *marks, const struct mark_memory *memory, uint32_t index,
		      mark_visit *visit, void *visitor)
{
	const struct mark_block *block = &marks->block[index];
	const uint64_t begin =
		(block->address + MARK_WORD_BYTES - 1) / MARK_WORD_BYTES * MARK_WORD_BYTES;
	const uint64_t end = end_of(block);

	return begin >= block->address && begin < end
		       ? memory->walk(memory->context, begin, end, visit, visitor)
		       : 0;
}

int marks_spread(struct marks *marks, const struct mark_memory *memory)
{
	int err = 0;

	while (marks->todo_count && !err)
		err = walk_block(marks, memory, marks->todo[--marks->todo_count], reach_from_block,
				 marks);
	return err;
}

/* ---- what was not reached -------------------------------------------------------------------- */

struct leaked_block {
	struct marks *marks;
	uint32_t index, leader;
};

/* A block that refers to itself is referred to by no other one. */
static void note_indirect(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct leaked_block *from = visitor;
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find_from_block(from->marks, at + i * MARK_WORD_BYTES, word[i], &index) &&
		    index != from->index && from->marks->state[index] == MARK_LEAKED)
			from->marks->state[index] = MARK_INDIRECT;
}

static void take(struct marks *marks, uint32_t index, uint32_t leader)
{
	if (marks->state[index] == MARK_REACHED || marks->leader[index] != NO_LEADER)
		return;
	marks->leader[index] = leader;
	marks->todo[marks->todo_count++] = index;
}

static void follow(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct leaked_block *from = visitor;
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find_from_block(from->marks, at + i * MARK_WORD_BYTES, word[i], &index))
			take(from->marks, index, from->leader);
}

/* Gives a leader to the block, if it has none, and to all that it leads to. */
static int lead(struct marks *marks, const struct mark_memory *memory, uint32_t leader)
{
	int err = 0;

	take(marks, leader, leader);
	while (marks->todo_count && !err) {
		struct leaked_block from = {marks, marks->todo[--marks->todo_count], leader};

		err = walk_block(marks, memory, from.index, follow, &from);
	}
	return err;
}

int marks_sort_out(struct marks *marks, const struct mark_memory *memory)
{
	int err = 0;

	for (uint32_t i = 0; i < marks->count && !err; i++) {
		struct leaked_block from = {.marks = marks, .index = i};

		if (marks->state[i] != MARK_REACHED)
			err = walk_block(marks, memory, i, note_indirect, &from);
	}
	for (uint32_t i = 0; i < marks->count && !err; i++)
		if (marks->state[i] == MARK_LEAKED)
			err = lead(marks, memory, i);
	/* rings: none of their blocks was found from another */
	for (uint32_t i = 0; i < marks->count && !err; i++)
		if (marks->state[i] == MARK_INDIRECT)
			err = lead(marks, memory, i);
	return err;
}
