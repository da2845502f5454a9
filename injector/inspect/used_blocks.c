/* SPDX-License-Identifier: MIT */
/* used_blocks.c - see used_blocks.h. */
#include "used_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "array_room.h"
#include "memory_copy.h"

static int add_range(struct used_blocks *blocks, remote_addr lo, remote_addr hi)
{
	struct used_range *last =
		blocks->range_count ? &blocks->range[blocks->range_count - 1] : NULL;

	/* a block's chunk begins a little before its head, in the block before it */
	if (last && lo >= last->hi && lo - last->hi <= MARK_WORD_BYTES) {
		last->hi = hi;
		return 0;
	}
	const int err = array_make_room((void **)&blocks->range, blocks->range_count,
					&blocks->range_room, sizeof(*blocks->range), 1);
	if (err)
		return err;
	blocks->range[blocks->range_count++] = (struct used_range){lo, hi};
	return 0;
}

struct finder {
	struct used_blocks *blocks;
	const struct heap_visitor *also; /* or NULL */
};

static int take(void *context, const struct heap_piece *piece)
{
	const struct finder *finder = context;
	struct used_blocks *blocks = finder->blocks;
	int err = finder->also ? finder->also->piece(finder->also->context, piece) : 0;

	if (err)
		return err;
	/* what is not understood may hold anything */
	if (piece->kind != HEAP_UNSURE)
		err = add_range(blocks, piece->address - piece->head_bytes,
				piece->address + piece->bytes + piece->tail_bytes);
	blocks->unsure_bytes += piece->kind == HEAP_UNSURE ? piece->bytes : 0;
	if (err || piece->kind != HEAP_USED)
		return err;
	if (blocks->count >= USED_BLOCKS_MAX) {
		blocks->is_partial = true;
		return 0;
	}
	err = array_make_room((void **)&blocks->block, blocks->count, &blocks->room,
			      sizeof(*blocks->block), 1);
	if (err)
		return err;
	blocks->block[blocks->count++] = (struct mark_block){piece->address, piece->bytes};
	blocks->bytes += piece->bytes;
	return 0;
}

static int pass_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	const struct heap_visitor *also = ((const struct finder *)context)->also;

	return also->trimmable(also->context, lo, hi);
}

static int pass_unit(void *context, const struct heap_unit *unit)
{
	const struct heap_visitor *also = ((const struct finder *)context)->also;

	return also->unit(also->context, unit);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct mark_block *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct used_range *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

/* Sorts, which most often there is no need to do. Each is left once, whatever the reader met twice.
 */
static void sort(struct mark_block *block, size_t *count)
{
	bool is_sorted = true;
	size_t kept = 0;

	for (size_t i = 1; i < *count && is_sorted; i++)
		is_sorted = block[i - 1].address < block[i].address;
	if (!is_sorted)
		qsort(block, *count, sizeof(*block), compare_blocks);
	for (size_t i = 0; i < *count; i++)
		if (!kept || block[kept - 1].address != block[i].address)
			block[kept++] = block[i];
	*count = kept;
}

int used_blocks_find(struct heap_source *source, const struct heap_visitor *also,
		     struct used_blocks *out_blocks)
{
	struct finder finder = {out_blocks, also};
	const struct heap_visitor visitor = {
		.piece = take,
		.trimmable = also && also->trimmable ? pass_trimmable : NULL,
		.unit = also && also->unit ? pass_unit : NULL,
		.context = &finder,
	};

	const struct memory_copy *copy = source->memory->copy;

	*out_blocks = (struct used_blocks){.held_times = copy ? copy->held_times : 0,
					   .held_ns = copy ? copy->held_ns : 0,
					   .held_threads = copy ? copy->threads : 0};
	int err = heaps_walk(source, &visitor, &out_blocks->heaps);
	if (err == -ETIMEDOUT) {
		out_blocks->is_partial = true;
		err = 0;
	}
	sort(out_blocks->block, &out_blocks->count);
	if (out_blocks->range_count)
		qsort(out_blocks->range, out_blocks->range_count, sizeof(*out_blocks->range),
		      compare_ranges);
	return err;
}

bool used_blocks_are_known(const struct used_blocks *blocks)
{
	for (size_t i = 0; i < blocks->heaps.count; i++)
		if (!*blocks->heaps.found[i].refusal)
			return true;
	return false;
}

void used_blocks_close(struct used_blocks *blocks)
{
	free(blocks->block);
	free(blocks->range);
	*blocks = (struct used_blocks){0};
}
