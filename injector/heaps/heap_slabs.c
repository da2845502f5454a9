/* SPDX-License-Identifier: MIT */
/* heap_slabs.c - see heap_slabs.h. */
#include "heap_slabs.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"

#define TRIES 4u
#define REREADS_MAX 4096u  /* beyond that it is no change that will be over */
#define PAGES_A_LOOK 4096u /* at the clock */
#define OWN_GAP 4096u      /* between ranges that are joined: of freed descriptors */

struct reader {
	const struct heap_map *map;
	uint64_t page; /* the next one; before it all is known */
	bool is_after_slab;
	struct heap_slab unknown; /* pages of which nothing is known, until their end */
	uint64_t *reread;
	heap_slab_visit *visit;
	void *context;
};

/* ---- the map --------------------------------------------------------------------------------- */

static int end_unknown(struct reader *reader)
{
	const struct heap_slab unknown = reader->unknown;

	reader->unknown = (struct heap_slab){0};
	return unknown.hi ? reader->visit(reader->context, &unknown) : 0;
}

static int take_slab(struct reader *reader, const struct heap_slab *slab)
{
	const int err = end_unknown(reader);

	reader->page = slab->hi >> reader->map->page_shift;
	reader->is_after_slab = true;
	return err ? err : reader->visit(reader->context, slab);
}

/* A page of the heap of which it is not known to what slab it belongs. */
static int take_unknown(struct reader *reader)
{
	const remote_addr lo = reader->page << reader->map->page_shift;
	const int err = reader->unknown.hi == lo ? 0 : end_unknown(reader);

	if (!reader->unknown.hi)
		reader->unknown.lo = lo;
	reader->unknown.hi = lo + (1ull << reader->map->page_shift);
	reader->page++;
	return err;
}

/* The slab at the page. 1, 0: there is none, or an error. *out_word: 0 if nothing is there. */
static int find_slab(struct reader *reader, remote_addr leaf, uint64_t *out_word,
		     struct heap_slab *slab)
{
	const struct heap_map *map = reader->map;
	const uint64_t slot = reader->page & ((1ull << map->leaf_bits) - 1);
	int err = heap_windows_word(map->windows, leaf + slot * HEAP_WORD, out_word);

	if (!err && *out_word)
		err = map->describe(map->context, *out_word, reader->page, slab);
	if (err == -ENOENT)
		*out_word = 0;
	return err == -ENODATA || err == -ENOENT ? 0 : err;
}

/* What is at the page, and goes on behind it. */
static int take_page(struct reader *reader, remote_addr leaf)
{
	struct heap_slab slab = {0};
	uint64_t word = 0;
	int found = 0;

	for (unsigned i = 0; i < TRIES && !found; i++) {
		found = find_slab(reader, leaf, &word, &slab);
		/* behind a slab may be a newer one, else nothing */
		if (found || (!word && !reader->is_after_slab) || *reader->reread >= REREADS_MAX)
			break;
		*reader->reread += word != 0;
		heap_windows_drop(reader->map->windows);
		reader->is_after_slab = reader->is_after_slab && word;
	}
	if (found)
		return found < 0 ? found : take_slab(reader, &slab);
	reader->is_after_slab = false;
	if (word)
		return take_unknown(reader);
	reader->page++;
	return 0;
}

static int read_leaf(struct reader *reader, remote_addr leaf, uint64_t page)
{
	const uint64_t end = page + (1ull << reader->map->leaf_bits);
	const uint64_t deadline_ns = reader->map->windows->source->deadline_ns;
	int err = 0;

	if (reader->page < page)
		reader->page = page;
	for (unsigned i = 0; reader->page < end && !err; i++) {
		if (i % PAGES_A_LOOK == 0 && clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		err = take_page(reader, leaf);
	}
	return err;
}

int heap_map_walk(const struct heap_map *map, uint64_t *reread, heap_slab_visit *visit,
		  void *context)
{
	struct reader reader = {
		.map = map,
		.reread = reread,
		.visit = visit,
		.context = context,
	};
	int err = 0;

	heap_windows_drop(map->windows);
	for (uint64_t i = 0; i < 1ull << map->root_bits && !err; i++)
		if (map->root[i])
			err = read_leaf(&reader, map->root[i], i << map->leaf_bits);
	return err ? err : end_unknown(&reader);
}

/* ---- the table ------------------------------------------------------------------------------- */

static int add_slab(void *context, const struct heap_slab *slab)
{
	struct heap_slabs *slabs = context;

	if (slabs->count == slabs->room) {
		const size_t room = slabs->room ? 2 * slabs->room : 1024;
		struct heap_slab *grown = realloc(slabs->slab, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		slabs->slab = grown;
		slabs->room = room;
	}
	slabs->slab[slabs->count] = *slab;
	slabs->slab[slabs->count++].first = slabs->blocks;
	slabs->blocks += slab->blocks;
	return 0;
}

int heap_slabs_read(struct heap_slabs *slabs, const struct heap_map *map)
{
	const int err = heap_map_walk(map, &slabs->reread, add_slab, slabs);

	if (err)
		return err;
	slabs->marks = calloc(1, slabs->blocks / 4 + 1);
	return slabs->marks ? 0 : -ENOMEM;
}

void heap_slabs_close(struct heap_slabs *slabs)
{
	free(slabs->slab);
	free(slabs->marks);
	free(slabs->own);
	*slabs = (struct heap_slabs){0};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The first slab that ends behind the address; NULL: none does. */
static const struct heap_slab *slab_from(const struct heap_slabs *slabs, remote_addr at)
{
	size_t low = 0, high = slabs->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (slabs->slab[middle].hi <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < slabs->count ? &slabs->slab[low] : NULL;
}

const struct heap_slab *heap_slabs_find(const struct heap_slabs *slabs, remote_addr at)
{
	const struct heap_slab *slab = slab_from(slabs, at);

	return slab && slab->lo <= at ? slab : NULL;
}

uint64_t heap_slabs_block_with(const struct heap_slabs *slabs, remote_addr at)
{
	const struct heap_slab *slab = heap_slabs_find(slabs, at);

	if (!slab || !slab->blocks || at < slab->block ||
	    (at - slab->block) / slab->block_bytes >= slab->blocks)
		return HEAP_NO_BLOCK;
	return slab->first + (at - slab->block) / slab->block_bytes;
}

uint64_t heap_slabs_block(const struct heap_slabs *slabs, remote_addr at, unsigned tag)
{
	const struct heap_slab *slab = heap_slabs_find(slabs, at);

	if (!slab || slab->tag != tag || !slab->blocks || (at - slab->block) % slab->block_bytes)
		return HEAP_NO_BLOCK;
	return heap_slabs_block_with(slabs, at);
}

uint64_t heap_slabs_first(const struct heap_slabs *slabs, const struct heap_slab *slab)
{
	const struct heap_slab *same = heap_slabs_find(slabs, slab->lo);

	return same && same->block == slab->block && same->tag == slab->tag &&
			       same->block_bytes == slab->block_bytes &&
			       same->blocks >= slab->blocks
		       ? same->first
		       : HEAP_NO_BLOCK;
}

enum heap_kind heap_slabs_kind(const struct heap_slabs *slabs, uint64_t first, uint64_t index)
{
	static const enum heap_kind kinds[] = {
		[HEAP_NO_MARK] = HEAP_USED,
		[HEAP_MARK_CACHED] = HEAP_CACHED,
		[HEAP_MARK_UNSURE] = HEAP_UNSURE,
		[HEAP_MARK_OWN] = HEAP_METADATA,
	};

	return first == HEAP_NO_BLOCK ? HEAP_USED : kinds[heap_slabs_mark_of(slabs, first + index)];
}

/* ---- memory of the allocator's own ----------------------------------------------------------- */

int heap_slabs_add_own(struct heap_slabs *slabs, remote_addr lo, remote_addr hi)
{
	struct heap_range *last = slabs->own_count ? &slabs->own[slabs->own_count - 1] : NULL;

	if (last && lo <= last->hi + OWN_GAP && hi + OWN_GAP >= last->lo) {
		last->lo = lo < last->lo ? lo : last->lo;
		last->hi = hi > last->hi ? hi : last->hi;
		return 0;
	}
	if (slabs->own_count == slabs->own_room) {
		const size_t room = slabs->own_room ? 2 * slabs->own_room : 64;
		struct heap_range *grown = realloc(slabs->own, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		slabs->own = grown;
		slabs->own_room = room;
	}
	slabs->own[slabs->own_count++] = (struct heap_range){lo, hi};
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct heap_range *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

/* Of slabs nothing is the allocator's own: one of the two was read while it changed. */
static void drop_in_slabs(struct heap_slabs *slabs)
{
	size_t count = 0;

	for (size_t i = 0; i < slabs->own_count; i++) {
		const struct heap_slab *slab = slab_from(slabs, slabs->own[i].lo);

		if (!slab || slab->lo >= slabs->own[i].hi)
			slabs->own[count++] = slabs->own[i];
	}
	slabs->own_count = count;
}

void heap_slabs_sort_own(struct heap_slabs *slabs)
{
	size_t count = 0;

	drop_in_slabs(slabs);
	if (slabs->own_count)
		qsort(slabs->own, slabs->own_count, sizeof(*slabs->own), compare_ranges);
	for (size_t i = 0; i < slabs->own_count; i++) {
		struct heap_range *last = count ? &slabs->own[count - 1] : NULL;

		if (!last || slabs->own[i].lo > last->hi + OWN_GAP)
			slabs->own[count++] = slabs->own[i];
		else if (slabs->own[i].hi > last->hi)
			last->hi = slabs->own[i].hi;
	}
	slabs->own_count = count;
}
