/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_layout.c - see jemalloc_layout.h. The layouts are those of edata_t (extent_t before
 * jemalloc 5.3), rtree_t and its leaves with 48 bits of addresses and pages of 4 KB.
 */
#include "jemalloc_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define ADDRESS_BITS 48u
#define ROOT_WORDS (1u << JEMALLOC_ROOT_BITS)
#define ROOT_BYTES (ROOT_WORDS * HEAP_WORD)
#define LEAF_WORDS (1u << JEMALLOC_LEAF_BITS)
#define LEAF_BYTES (LEAF_WORDS * HEAP_WORD)
#define LEAF_ALIGNMENT 64u
#define REGION_SHIFT (JEMALLOC_PAGE_SHIFT + JEMALLOC_LEAF_BITS)
#define REGION_WORDS 64u   /* of a leaf, to find out of which gigabyte it is */
#define ZEROS_BEFORE 4096u /* memory is mapped at high addresses: so long is zero in the map */
#define PAGE_MASK ((1ull << JEMALLOC_PAGE_SHIFT) - 1)

/* a word of a leaf: the size class above, flags in the low bits */
#define LEAF_IS_SLAB 1u

/* edata_t */
#define DESCRIPTOR_ADDRESS 8u
#define DESCRIPTOR_SIZE 16u
#define DESCRIPTOR_BITMAP 64u
#define DESCRIPTOR_BYTES 128u
#define ARENA_MASK 0xfffu
#define SLAB_SHIFT 12u
#define SIZE_CLASS_MASK 0xffu
#define FREE_MASK 0x3ffu

/* Fields of the first word of a descriptor, after arena and slab. */
struct jemalloc_version {
	const char *name;
	uint8_t state_shift, state_mask;
	uint8_t size_class_shift, free_shift;
	uint8_t huge_shift;           /* 0: there is no allocator of huge pages */
	uint8_t descriptor_alignment; /* the map has flags in the bits below */
};

static const struct jemalloc_version versions[] = {
	{"jemalloc 5.3", 17, 7, 20, 28, 14, 128},
	{"jemalloc 5.1 or 5.2", 16, 3, 18, 26, 0, 64},
};
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))
#define WORDS_LOOKED_AT 2048u /* of the map, to compare them */

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Four sizes for each doubling, from 16 bytes on, and 8. */
static void fill_sizes(uint64_t size[JEMALLOC_SIZES])
{
	size[0] = 8;
	for (unsigned i = 1; i < JEMALLOC_SIZES; i++) {
		const unsigned group = (i - 1) / 4, rest = (i - 1) % 4 + 1;
		const uint64_t base = group ? 32ull << group : 0;

		size[i] = base + ((uint64_t)rest << (group ? group + 3 : 4));
	}
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static remote_addr descriptor_of(const struct jemalloc_layout *layout, uint64_t word)
{
	return (word & ((1ull << ADDRESS_BITS) - 1)) &
	       -(uint64_t)layout->version->descriptor_alignment;
}

static bool is_extent(const struct jemalloc_layout *layout, const struct jemalloc_extent *extent)
{
	const uint64_t bytes = extent->hi - extent->lo;

	if (!bytes || bytes & PAGE_MASK || extent->hi >> (ADDRESS_BITS - 1) ||
	    extent->size_class > JEMALLOC_SIZES)
		return false;
	if (extent->state != JEMALLOC_ACTIVE || extent->size_class == JEMALLOC_SIZES)
		return true;
	if (!extent->is_slab)
		return layout->size[extent->size_class] <= extent->hi - extent->block;
	return extent->size_class < JEMALLOC_SLAB_SIZES &&
	       bytes / layout->size[extent->size_class] <= JEMALLOC_BITMAP_WORDS * 64 &&
	       extent->free <= bytes / layout->size[extent->size_class];
}

int jemalloc_extent_read(struct heap_windows *windows, const struct jemalloc_layout *layout,
			 remote_addr at, struct jemalloc_extent *out_extent)
{
	const struct jemalloc_version *version = layout->version;
	uint8_t byte[DESCRIPTOR_BYTES];
	uint64_t bits, size;
	struct jemalloc_extent extent;
	const int err = heap_windows_read(windows, at, byte, sizeof(byte));

	if (err)
		return err;
	memcpy(&bits, byte, sizeof(bits));
	memcpy(&extent.block, byte + DESCRIPTOR_ADDRESS, sizeof(extent.block));
	memcpy(&size, byte + DESCRIPTOR_SIZE, sizeof(size));
	memcpy(extent.bitmap, byte + DESCRIPTOR_BITMAP, sizeof(extent.bitmap));
	extent.lo = extent.block & ~PAGE_MASK;
	extent.hi = extent.lo + (size & ~PAGE_MASK);
	extent.arena = bits & ARENA_MASK;
	extent.is_slab = bits >> SLAB_SHIFT & 1;
	extent.state = bits >> version->state_shift & version->state_mask;
	extent.size_class = bits >> version->size_class_shift & SIZE_CLASS_MASK;
	extent.free = bits >> version->free_shift & FREE_MASK;
	extent.is_of_huge_pages = version->huge_shift && (bits >> version->huge_shift & 1);
	*out_extent = extent;
	return is_extent(layout, &extent);
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

	return mapping && mapping->writable && mapping->hi - word >= LEAF_BYTES;
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
	const remote_addr at = page << JEMALLOC_PAGE_SHIFT;
	const int err = jemalloc_extent_read(finder->windows, finder->layout,
					     descriptor_of(finder->layout, word), &extent);

	if (err < 0 && err != -ENODATA)
		return err;
	if (err > 0 && at > extent.lo && at < extent.hi)
		return 0;
	const bool is_used = err > 0 && extent.state == JEMALLOC_ACTIVE;

	agreement->words++;
	if (err <= 0 || at != extent.lo ||
	    (is_used ? extent.size_class != word >> ADDRESS_BITS ||
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

	for (unsigned i = 0; i < LEAF_WORDS && !err && agreement->words < WORDS_LOOKED_AT; i++) {
		uint64_t word;

		err = heap_windows_word(finder->windows, leaf + i * HEAP_WORD, &word);
		if (err == -ENODATA)
			err = 0;
		else if (!err && descriptor_of(finder->layout, word))
			err = compare_word(finder, word, (region << JEMALLOC_LEAF_BITS) + i,
					   agreement);
	}
	return err;
}

static int compare_leaves(struct finder *finder, const struct heap_bytes *bytes, remote_addr root,
			  struct agreement *agreement)
{
	int err = 0;

	*agreement = (struct agreement){0};
	for (uint64_t i = 0; i < ROOT_WORDS && !err && agreement->words < WORDS_LOOKED_AT; i++) {
		const uint64_t leaf = heap_bytes_word(bytes, root + i * HEAP_WORD);

		if (leaf)
			err = is_late(finder) ? -ETIMEDOUT
					      : compare_leaf(finder, leaf, i, agreement);
	}
	return err;
}

/*
 * Which gigabyte is the leaf of, by the extents that it leads to? 1; 0: it is no leaf of this
 * version.
 */
static int region_of(struct finder *finder, remote_addr leaf, uint64_t *out_region)
{
	unsigned looked = 0;
	int err = 0;

	for (unsigned i = 0; i < LEAF_WORDS && !err && looked < REGION_WORDS; i++) {
		struct jemalloc_extent extent;
		uint64_t word;

		err = heap_windows_word(finder->windows, leaf + i * HEAP_WORD, &word);
		if (err || !descriptor_of(finder->layout, word))
			continue;
		looked++;
		err = jemalloc_extent_read(finder->windows, finder->layout,
					   descriptor_of(finder->layout, word), &extent);
		if (err > 0 && (extent.lo >> JEMALLOC_PAGE_SHIFT) % LEAF_WORDS == i) {
			*out_region = extent.lo >> REGION_SHIFT;
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
	for (remote_addr at = first; at < root + ROOT_BYTES; at += HEAP_WORD) {
		const uint64_t word = heap_bytes_word(bytes, at);

		if (word && !is_leaf(finder, word))
			return false;
	}
	return true;
}

static int take_root(struct finder *finder, const struct heap_bytes *bytes, remote_addr root)
{
	finder->layout->root = malloc(ROOT_BYTES);
	if (!finder->layout->root)
		return -ENOMEM;
	memcpy(finder->layout->root, bytes->byte + (root - bytes->lo), ROOT_BYTES);
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

	if (region >= ROOT_WORDS || root > first || root < after_zeros ||
	    !heap_bytes_has(bytes, root, ROOT_BYTES) || !is_root(finder, bytes, root, first))
		return 0;
	err = compare_leaves(finder, bytes, root, &agreement);
	/* of other versions hardly any agree; of the right one some change meanwhile */
	if (err || !agreement.in_use || agreement.agreeing * 2 <= agreement.words)
		return err;
	finder->layout->name = finder->layout->version->name;
	return take_root(finder, bytes, root);
}

static int try_root(struct finder *finder, const struct heap_bytes *bytes, remote_addr first,
		    remote_addr after_zeros)
{
	int found = 0;

	if (first - after_zeros < ZEROS_BEFORE || !is_leaf(finder, heap_bytes_word(bytes, first)))
		return 0;
	for (size_t i = 0; i < VERSIONS && !found; i++) {
		finder->layout->version = &versions[i];
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

	fill_sizes(layout->size);
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
	const remote_addr at = descriptor_of(layout, word);
	struct jemalloc_extent extent;
	const int err = at ? jemalloc_extent_read(map->map.windows, layout, at, &extent) : -ENOENT;

	if (err <= 0 || extent.lo >> JEMALLOC_PAGE_SHIFT != page)
		return err < 0 ? err : 0;
	*out_slab = (struct heap_slab){.lo = extent.lo, .hi = extent.hi, .descriptor = at};
	map->has_huge_pages |= extent.is_of_huge_pages;
	if (extent.state == JEMALLOC_ACTIVE && extent.size_class < JEMALLOC_SIZES) {
		const uint64_t size = layout->size[extent.size_class];

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
		.root_bits = JEMALLOC_ROOT_BITS,
		.leaf_bits = JEMALLOC_LEAF_BITS,
		.page_shift = JEMALLOC_PAGE_SHIFT,
		.describe = describe,
		.context = map,
	};
}
