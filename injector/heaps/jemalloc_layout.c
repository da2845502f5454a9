/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_layout.c - see jemalloc_layout.h. The layouts are those of rtree_t and its leaves
 * with 48 bits of addresses.
 */
#include "jemalloc_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define LEAF_ALIGNMENT 64u
#define REGION_WORDS 64u   /* of a leaf, to find out of which region it is */
#define ZEROS_BEFORE 4096u /* memory is mapped at high addresses: so long is zero in the map */

/* a word of a leaf: the size class above, flags in the low bits */
#define LEAF_IS_SLAB 1u

#define WORDS_LOOKED_AT 2048u /* of the map, to compare them */

static const uint8_t page_shifts[] = {12, 14, 16};

/* The number of a page has as many bits, of which a leaf has the lower half. */
static void set_form(struct jemalloc_layout *layout, unsigned version, unsigned page_shift)
{
	jemalloc_form_set(&layout->form, version, page_shift);
	layout->leaf_bits = (JEMALLOC_ADDRESS_BITS - page_shift + 1) / 2;
	layout->root_bits = JEMALLOC_ADDRESS_BITS - page_shift - layout->leaf_bits;
}

static uint64_t root_words(const struct jemalloc_layout *layout)
{
	return 1ull << layout->root_bits;
}

static uint64_t root_bytes(const struct jemalloc_layout *layout)
{
	return root_words(layout) * HEAP_WORD;
}

static uint64_t leaf_words(const struct jemalloc_layout *layout)
{
	return 1ull << layout->leaf_bits;
}

/* ---- the map --------------------------------------------------------------------------------- */

struct finder {
	struct heap_windows *windows;
	struct jemalloc_layout *layout;
};

static bool is_late(const struct finder *finder)
{
	return clock_now_ns() >= finder->windows->source->deadline_ns;
}

static bool is_leaf(const struct finder *finder, uint64_t word)
{
	const struct mapping *mapping = word % LEAF_ALIGNMENT || !word
						? NULL
						: maps_find(finder->windows->source->maps, word);

	return mapping && mapping->writable &&
	       mapping->hi - word >= leaf_words(finder->layout) * HEAP_WORD;
}

/* How much of what a leaf says agrees with descriptors of this version. */
struct agreement {
	size_t words, agreeing, in_use;
};

/*
 * The word is that of the page. What it says of the size is kept true only for the first page of an
 * extent that is in use.
 */
static int compare_word(struct finder *finder, uint64_t word, uint64_t page,
			struct agreement *agreement)
{
	struct jemalloc_extent extent;
	const remote_addr at = page << finder->layout->form.page_shift;
	const int err =
		jemalloc_extent_read(finder->windows, &finder->layout->form,
				     jemalloc_descriptor(&finder->layout->form, word), &extent);

	if (err < 0 && err != -ENODATA)
		return err;
	if (err > 0 && at > extent.lo && at < extent.hi)
		return 0;
	const bool is_used = err > 0 && extent.state == JEMALLOC_ACTIVE;

	agreement->words++;
	if (err <= 0 || at != extent.lo ||
	    (is_used ? extent.size_class != word >> JEMALLOC_ADDRESS_BITS ||
			       extent.is_slab != (word & LEAF_IS_SLAB)
		     : extent.size_class != JEMALLOC_SIZES))
		return 0;
	agreement->agreeing++;
	agreement->in_use += is_used;
	return 0;
}

static int compare_leaf(struct finder *finder, remote_addr leaf, uint64_t region,
			struct agreement *agreement)
{
	int err = 0;

	for (unsigned i = 0;
	     i < leaf_words(finder->layout) && !err && agreement->words < WORDS_LOOKED_AT; i++) {
		uint64_t word;

		err = heap_windows_word(finder->windows, leaf + i * HEAP_WORD, &word);
		if (err == -ENODATA)
			err = 0;
		else if (!err && jemalloc_descriptor(&finder->layout->form, word))
			err = compare_word(finder, word, (region << finder->layout->leaf_bits) + i,
					   agreement);
	}
	return err;
}

static int compare_leaves(struct finder *finder, const struct heap_bytes *bytes, remote_addr root,
			  struct agreement *agreement)
{
	int err = 0;

	*agreement = (struct agreement){0};
	for (uint64_t i = 0;
	     i < root_words(finder->layout) && !err && agreement->words < WORDS_LOOKED_AT; i++) {
		const uint64_t leaf = heap_bytes_word(bytes, root + i * HEAP_WORD);

		if (leaf)
			err = is_late(finder) ? -ETIMEDOUT
					      : compare_leaf(finder, leaf, i, agreement);
	}
	return err;
}

/*
 * Which region of addresses is the leaf of, by the extents that it leads to? 1; 0: it is no leaf of
 * this version.
 */
static int region_of(struct finder *finder, remote_addr leaf, uint64_t *out_region)
{
	const struct jemalloc_layout *layout = finder->layout;
	unsigned looked = 0;
	int err = 0;

	for (unsigned i = 0; i < leaf_words(layout) && !err && looked < REGION_WORDS; i++) {
		struct jemalloc_extent extent;
		uint64_t word;

		err = heap_windows_word(finder->windows, leaf + i * HEAP_WORD, &word);
		if (err || !jemalloc_descriptor(&layout->form, word))
			continue;
		looked++;
		err = jemalloc_extent_read(finder->windows, &layout->form,
					   jemalloc_descriptor(&layout->form, word), &extent);
		if (err > 0 && (extent.lo >> layout->form.page_shift) % leaf_words(layout) == i) {
			*out_region = extent.lo >> layout->form.page_shift >> layout->leaf_bits;
			return 1;
		}
		err = err < 0 && err != -ENODATA ? err : 0;
	}
	return err == -ENODATA ? 0 : err;
}

/* Is all else in the table that begins here zero, or a leaf too? */
static bool is_root(const struct finder *finder, const struct heap_bytes *bytes, remote_addr root,
		    remote_addr first)
{
	for (remote_addr at = first; at < root + root_bytes(finder->layout); at += HEAP_WORD) {
		const uint64_t word = heap_bytes_word(bytes, at);

		if (word && !is_leaf(finder, word))
			return false;
	}
	return true;
}

static int take_root(struct finder *finder, const struct heap_bytes *bytes, remote_addr root)
{
	const size_t size = root_bytes(finder->layout);

	finder->layout->root = malloc(size);
	if (!finder->layout->root)
		return -ENOMEM;
	memcpy(finder->layout->root, bytes->byte + (root - bytes->lo), size);
	return 1;
}

/* Is the word at `first` the map's first one that is not zero, in this version? 1: yes. */
static int try_version(struct finder *finder, const struct heap_bytes *bytes, remote_addr first,
		       remote_addr after_zeros)
{
	struct agreement agreement;
	uint64_t region = 0;
	int err = region_of(finder, heap_bytes_word(bytes, first), &region);

	if (err <= 0)
		return err;
	const remote_addr root = first - region * HEAP_WORD;

	if (region >= root_words(finder->layout) || root > first || root < after_zeros ||
	    !heap_bytes_has(bytes, root, root_bytes(finder->layout)) ||
	    !is_root(finder, bytes, root, first))
		return 0;
	err = compare_leaves(finder, bytes, root, &agreement);
	/* of other versions hardly any agree; of the right one some change meanwhile */
	if (err || !agreement.in_use || agreement.agreeing * 2 <= agreement.words)
		return err;
	return take_root(finder, bytes, root);
}

static int try_root(struct finder *finder, const struct heap_bytes *bytes, remote_addr first,
		    remote_addr after_zeros)
{
	int found = 0;

	if (first - after_zeros < ZEROS_BEFORE)
		return 0;
	for (size_t i = 0; i < sizeof(page_shifts) * JEMALLOC_VERSIONS && !found; i++) {
		set_form(finder->layout, i % JEMALLOC_VERSIONS, page_shifts[i / JEMALLOC_VERSIONS]);
		if (is_leaf(finder, heap_bytes_word(bytes, first)))
			found = is_late(finder) ? -ETIMEDOUT
						: try_version(finder, bytes, first, after_zeros);
	}
	return found;
}

static int find_root(struct finder *finder, const struct heap_bytes *bytes)
{
	remote_addr after_zeros = bytes->lo;
	int found = 0;

	for (remote_addr at = bytes->lo; !found && heap_bytes_has(bytes, at, HEAP_WORD);
	     at += HEAP_WORD) {
		if (!heap_bytes_word(bytes, at))
			continue;
		found = try_root(finder, bytes, at, after_zeros);
		after_zeros = at + HEAP_WORD;
	}
	return found;
}

int jemalloc_layout_find(struct heap_windows *windows, const struct image_data *data,
			 struct jemalloc_layout *layout, char *refusal)
{
	struct finder finder = {windows, layout};
	int found = 0;

	for (size_t i = 0; i < data->count && !found; i++)
		found = find_root(&finder, &data->segment[i]);
	if (!found) {
		snprintf(refusal, HEAP_TEXT_MAX,
			 "the layout of this version is not known: no map of extents");
		return -EPROTO;
	}
	return found < 0 ? found : 0;
}

void jemalloc_layout_close(struct jemalloc_layout *layout)
{
	free(layout->root);
	layout->root = NULL;
}

/* ---- the map of extents ---------------------------------------------------------------------- */

static int describe(void *context, uint64_t word, uint64_t page, struct heap_slab *out_slab)
{
	struct jemalloc_map *map = context;
	const struct jemalloc_layout *layout = map->layout;
	const remote_addr at = jemalloc_descriptor(&layout->form, word);
	struct jemalloc_extent extent;
	const int err =
		at ? jemalloc_extent_read(map->map.windows, &layout->form, at, &extent) : -ENOENT;

	if (err <= 0 || extent.lo >> layout->form.page_shift != page)
		return err < 0 ? err : 0;
	*out_slab = (struct heap_slab){.lo = extent.lo, .hi = extent.hi, .descriptor = at};
	map->has_huge_pages |= extent.is_of_huge_pages;
	if (extent.state == JEMALLOC_ACTIVE && extent.size_class < JEMALLOC_SIZES) {
		const uint64_t size = layout->form.size[extent.size_class];

		out_slab->tag = (uint16_t)extent.size_class;
		out_slab->block_bytes = size;
		out_slab->block = extent.is_slab ? extent.lo : extent.block;
		out_slab->blocks = extent.is_slab ? (uint32_t)((extent.hi - extent.lo) / size) : 1;
	}
	return 1;
}

void jemalloc_map_open(struct jemalloc_map *map, struct heap_windows *windows,
		       const struct jemalloc_layout *layout)
{
	map->layout = layout;
	map->has_huge_pages = false;
	map->map = (struct heap_map){
		.windows = windows,
		.root = layout->root,
		.root_bits = layout->root_bits,
		.leaf_bits = layout->leaf_bits,
		.page_shift = layout->form.page_shift,
		.describe = describe,
		.context = map,
	};
}
