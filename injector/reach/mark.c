/* SPDX-License-Identifier: MIT */
/*
 * mark.c - see mark.h.
 *
 * Blocks that were found and not yet looked through are in todo[]. Each comes there once, so that
 * it never overflows, and nothing is recursive.
 */
#include "mark.h"

#include <errno.h>
#include <stdlib.h>

#define NO_LEADER UINT32_MAX

/* ---- life ------------------------------------------------------------------------------------ */

int marks_open(struct marks *marks, const struct mark_block *block, size_t count)
{
	*marks = (struct marks){.block = block};
	const int err = block_index_open(&marks->index, block, count);
	if (err || !count)
		return err;
	marks->count = (uint32_t)count;
	marks->state = calloc(count, sizeof(*marks->state));
	marks->leader = malloc(count * sizeof(*marks->leader));
	marks->todo = malloc(count * sizeof(*marks->todo));
	if (!marks->state || !marks->leader || !marks->todo) {
		marks_close(marks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		marks->leader[i] = NO_LEADER;
	return 0;
}

void marks_close(struct marks *marks)
{
	free(marks->state);
	free(marks->leader);
	free(marks->todo);
	block_index_close(&marks->index);
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
		if (block_index_find(&marks->index, word[i], &index))
			marks_block(marks, index);
}

void marks_words_but(struct marks *marks, const uint64_t *word, size_t count, mark_is_none *is_none)
{
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (block_index_find(&marks->index, word[i], &index) &&
		    !is_none(&marks->block[index], word[i]))
			marks_block(marks, index);
}

static bool find_from_block(const struct marks *marks, uint64_t at, uint64_t word,
			    uint32_t *out_index)
{
	return block_index_find_from_block(&marks->index, marks->links, at, word, out_index);
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
	return mark_memory_walk(memory, lo, hi, reach, marks);
}

static int walk_block(const struct marks *marks, const struct mark_memory *memory, uint32_t index,
		      mark_visit *visit, void *visitor)
{
	return mark_memory_walk_block(memory, &marks->block[index], visit, visitor);
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
