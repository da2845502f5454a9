/* SPDX-License-Identifier: MIT */
/* leaked_blocks.c - see leaked_blocks.h. */
#include "leaked_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "glibc_bins.h"
#include "glibc_links.h"
#include "live_roots.h"
#include "words.h"

#define CONTENT_SUM_BYTES 256u

struct marking {
	struct inspected *inspected;
	const struct used_blocks *blocks;
	struct maps maps; /* as they are after the blocks were found */
	struct marks marks;
	struct words words;
	struct mark_memory memory;
};

static int mark_root(void *context, const struct live_root *root)
{
	struct marking *marking = context;

	marking->words.is_shared = root->mapping->shared;
	const int err =
		glibc_bins_mark_range(&marking->marks, &marking->memory, root->lo, root->hi);
	marking->words.is_shared = false;
	return err;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void add_words(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	uint64_t *sum = visitor;

	(void)at;
	for (size_t i = 0; i < count; i++)
		*sum = (*sum ^ word[i]) * 0x100000001b3ull;
}

/* Of its first words. */
static int content_sum(const struct marking *marking, const struct mark_block *block,
		       uint64_t *out_sum)
{
	const uint64_t bytes = block->bytes < CONTENT_SUM_BYTES ? block->bytes : CONTENT_SUM_BYTES;

	*out_sum = 0xcbf29ce484222325ull;
	return mark_memory_walk(&marking->memory, block->address, block->address + bytes, add_words,
				out_sum);
}

static int take_leaked(const struct marking *marking, struct leaked_blocks *out_leaked)
{
	const struct marks *marks = &marking->marks;
	uint32_t *place = NULL; /* by block: its index among the leaked */
	size_t count = 0;
	int err = 0;

	for (uint32_t i = 0; i < marks->count; i++)
		count += marks->state[i] != MARK_REACHED;
	out_leaked->block = calloc(count + 1, sizeof(*out_leaked->block));
	place = malloc(((size_t)marks->count + 1) * sizeof(*place));
	if (!out_leaked->block || !place) {
		free(place);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < marks->count && !err; i++) {
		struct leaked_block *leaked = &out_leaked->block[out_leaked->count];

		if (marks->state[i] == MARK_REACHED)
			continue;
		place[i] = (uint32_t)out_leaked->count++;
		*leaked = (struct leaked_block){marks->block[i], 0, marks->leader[i]};
		err = content_sum(marking, &leaked->block, &leaked->content);
	}
	for (size_t i = 0; i < out_leaked->count && !err; i++)
		out_leaked->block[i].leader = place[out_leaked->block[i].leader];
	free(place);
	return err;
}

/* Marks what a block refers to that was not there before. */
static int mark_born(void *context, const struct heap_piece *piece)
{
	struct marking *marking = context;
	uint32_t before;

	if (piece->kind != HEAP_USED)
		return 0;
	if (block_index_find(&marking->marks.index, piece->address, &before) &&
	    marking->blocks->block[before].address == piece->address &&
	    marking->blocks->block[before].bytes == piece->bytes)
		return 0;
	return marks_range(&marking->marks, &marking->memory, piece->address,
			   piece->address + piece->bytes);
}

/*
 * Blocks that have come since the others were listed: a list may begin with one, and all the rest
 * of it be reached from there alone.
 */
static int mark_since(struct marking *marking)
{
	const struct heap_visitor visitor = {.piece = mark_born, .context = marking};
	const struct inspected *inspected = marking->inspected;
	struct inspected now;
	struct heaps heaps = {0};
	int err = inspected_open(&now, inspected->memory, inspected->source.deadline_ns);

	if (!err)
		err = heaps_walk(&now.source, &visitor, &heaps);
	inspected_close(&now);
	return err ? err : marks_spread(&marking->marks, &marking->memory);
}

static int mark(struct marking *marking, struct leaked_blocks *out_leaked)
{
	int err = live_roots_visit(marking->inspected->memory, &marking->maps, marking->blocks,
				   mark_root, marking);

	if (!err)
		err = marks_spread(&marking->marks, &marking->memory);
	words_forget(&marking->words);
	if (!err && !marking->inspected->memory->copy)
		err = mark_since(marking);
	if (!err)
		err = marks_sort_out(&marking->marks, &marking->memory);
	return err ? err : take_leaked(marking, out_leaked);
}

static int mark_by_words(struct marking *marking, struct leaked_blocks *out_leaked)
{
	const uint64_t deadline_ns = marking->inspected->source.deadline_ns;
	const struct memory *memory = marking->inspected->memory;
	struct words beside = {0};
	int err = words_open(&marking->words, memory, deadline_ns);

	if (!err)
		err = words_open(&beside, memory, deadline_ns);
	marking->words.is_sparing = beside.is_sparing = true;
	const struct mark_memory beside_memory = words_memory(&beside);
	struct glibc_links of_glibc = {.memory = &beside_memory};
	const struct mark_links links = glibc_links(&of_glibc);

	marking->marks.links = &links;
	marking->memory = words_memory(&marking->words);
	if (!err)
		err = mark(marking, out_leaked);
	marking->marks.links = NULL;
	words_close(&marking->words);
	words_close(&beside);
	return err;
}

int leaked_blocks_find(struct inspected *inspected, const struct used_blocks *blocks,
		       struct leaked_blocks *out_leaked)
{
	const struct memory *memory = inspected->memory;
	struct marking marking = {.inspected = inspected, .blocks = blocks};

	*out_leaked = (struct leaked_blocks){0};
	int err = maps_of(memory, &marking.maps);
	if (!err)
		err = marks_open(&marking.marks, blocks->block, blocks->count);
	if (!err)
		err = mark_by_words(&marking, out_leaked);
	marks_close(&marking.marks);
	maps_close(&marking.maps);
	return err;
}

static const struct leaked_block *find(const struct leaked_blocks *leaked, remote_addr address)
{
	size_t low = 0, high = leaked->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (leaked->block[middle].block.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < leaked->count && leaked->block[low].block.address == address
		       ? &leaked->block[low]
		       : NULL;
}

void leaked_blocks_keep_both(struct leaked_blocks *leaked, const struct leaked_blocks *before)
{
	uint32_t *place = calloc(leaked->count + 1, sizeof(*place)); /* 1 + the new index */
	size_t kept = 0;

	for (size_t i = 0; i < leaked->count; i++) {
		const struct leaked_block *block = &leaked->block[i];
		const struct leaked_block *old = find(before, block->block.address);

		if (!old || old->block.bytes != block->block.bytes ||
		    old->content != block->content)
			continue;
		leaked->block[kept++] = *block;
		if (place)
			place[i] = (uint32_t)kept;
	}
	leaked->count = kept;
	/* the leader may be gone: then it is one that others were found from no more */
	for (size_t i = 0; i < kept; i++) {
		const uint32_t leader = place ? place[leaked->block[i].leader] : 0;

		leaked->block[i].leader = leader ? leader - 1 : (uint32_t)i;
	}
	free(place);
}

int leaked_blocks_count(const struct leaked_blocks *leaked, const struct heap_source *source,
			struct content_reader *reader, struct leaked_leaders *out_leaders,
			struct census *out_census)
{
	struct mark_block *block = calloc(leaked->count + 1, sizeof(*block));
	uint32_t *group = calloc(leaked->count + 1, sizeof(*group));
	struct census_more *more = calloc(leaked->count + 1, sizeof(*more));
	uint32_t *place = calloc(leaked->count + 1, sizeof(*place));
	struct census_of of = {.block = block, .more = more, .group = group};
	int err = block && group && more && place ? 0 : -ENOMEM;

	for (size_t i = 0; i < leaked->count && !err; i++)
		if (leaked->block[i].leader == i) {
			place[i] = (uint32_t)of.count;
			block[of.count++] = leaked->block[i].block;
		}
	for (size_t i = 0; i < leaked->count && !err; i++)
		if (leaked->block[i].leader != i) {
			struct census_more *leader = &more[place[leaked->block[i].leader]];

			leader->count++;
			leader->bytes += leaked->block[i].block.bytes;
		}
	if (!err)
		err = census_take(source, &of, reader, out_census);
	*out_leaders = (struct leaked_leaders){block, group, of.count};
	free(more);
	free(place);
	return err;
}

void leaked_leaders_close(struct leaked_leaders *leaders)
{
	free(leaders->block);
	free(leaders->group);
	*leaders = (struct leaked_leaders){0};
}

void leaked_blocks_close(struct leaked_blocks *leaked)
{
	free(leaked->block);
	*leaked = (struct leaked_blocks){0};
}
