/* SPDX-License-Identifier: MIT */
/*
 * mark.c - see mark.h.
 *
 * All blocks are looked through once, in the order of their addresses, as memory is read fastest
 * so. What a block refers to that nothing has reached yet is noted: it may be reached by a later
 * one. Such blocks, when they are reached, are in todo[] until what they refer to is reached, too.
 * Each comes there once, so that it never overflows, and nothing is recursive.
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
	if (index < marks->passed)
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

struct from_block {
	struct marks *marks;
	uint32_t index, leader;
};

/* To itself is no edge: it reaches nothing by that. */
static void note_edges(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct from_block *from = visitor;
	struct marks *marks = from->marks;
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find_from_block(marks, at + i * MARK_WORD_BYTES, word[i], &index) &&
		    index != from->index && marks->state[index] != MARK_REACHED)
			block_edges_add(&marks->edges, index);
}

static int spread_from_passed(struct marks *marks, const struct mark_memory *memory)
{
	const struct block_edges *edges = &marks->edges;
	int err = 0;

	while (marks->todo_count && !err) {
		const uint32_t from = marks->todo[--marks->todo_count];

		if (!block_edges_has(edges, from))
			err = walk_block(marks, memory, from, reach_from_block, marks);
		else
			for (uint32_t i = edges->begin[from]; i < edges->begin[from + 1]; i++)
				marks_block(marks, edges->to[i]);
	}
	return err;
}

/* Looks through the next block. */
static int pass_block(struct marks *marks, const struct mark_memory *memory)
{
	struct from_block from = {.marks = marks, .index = marks->passed++};
	int err = 0;

	if (marks->state[from.index] == MARK_REACHED)
		err = walk_block(marks, memory, from.index, reach_from_block, marks);
	else if (!marks->edges.is_full)
		err = walk_block(marks, memory, from.index, note_edges, &from);
	block_edges_end_block(&marks->edges);
	return err ? err : spread_from_passed(marks, memory);
}

int marks_spread(struct marks *marks, const struct mark_memory *memory)
{
	int err = 0;

	if (!marks->passed)
		block_edges_open(&marks->edges, marks->count);
	while (marks->passed < marks->count && !err)
		err = pass_block(marks, memory);
	/* what is reached later is read as it is then */
	block_edges_close(&marks->edges);
	return err ? err : spread_from_passed(marks, memory);
}

/* ---- what was not reached -------------------------------------------------------------------- */

/* A block that refers to itself is referred to by no other one. */
static void note_indirect(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct from_block *from = visitor;
	struct marks *marks = from->marks;
	uint32_t index;

	for (size_t i = 0; i < count; i++) {
		if (!find_from_block(marks, at + i * MARK_WORD_BYTES, word[i], &index) ||
		    index == from->index || marks->state[index] == MARK_REACHED)
			continue;
		marks->state[index] = MARK_INDIRECT;
		block_edges_add(&marks->edges, index);
	}
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
	struct from_block *from = visitor;
	uint32_t index;

	for (size_t i = 0; i < count; i++)
		if (find_from_block(from->marks, at + i * MARK_WORD_BYTES, word[i], &index))
			take(from->marks, index, from->leader);
}

/* Gives a leader to the block, if it has none, and to all that it leads to. */
static int lead(struct marks *marks, const struct mark_memory *memory, uint32_t leader)
{
	const struct block_edges *edges = &marks->edges;
	struct from_block from = {.marks = marks, .leader = leader};
	int err = 0;

	take(marks, leader, leader);
	while (marks->todo_count && !err) {
		from.index = marks->todo[--marks->todo_count];
		if (!block_edges_has(edges, from.index))
			err = walk_block(marks, memory, from.index, follow, &from);
		else
			for (uint32_t i = edges->begin[from.index];
			     i < edges->begin[from.index + 1]; i++)
				take(marks, edges->to[i], leader);
	}
	return err;
}

static int note_all_indirect(struct marks *marks, const struct mark_memory *memory)
{
	int err = 0;

	for (uint32_t i = 0; i < marks->count && !err; i++) {
		struct from_block from = {.marks = marks, .index = i};

		if (marks->state[i] != MARK_REACHED)
			err = walk_block(marks, memory, i, note_indirect, &from);
		block_edges_end_block(&marks->edges);
	}
	return err;
}

int marks_sort_out(struct marks *marks, const struct mark_memory *memory)
{
	block_edges_open(&marks->edges, marks->count);
	int err = note_all_indirect(marks, memory);

	for (uint32_t i = 0; i < marks->count && !err; i++)
		if (marks->state[i] == MARK_LEAKED)
			err = lead(marks, memory, i);
	/* rings: none of their blocks was found from another */
	for (uint32_t i = 0; i < marks->count && !err; i++)
		if (marks->state[i] == MARK_INDIRECT)
			err = lead(marks, memory, i);
	block_edges_close(&marks->edges);
	return err;
}
