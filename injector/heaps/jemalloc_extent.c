/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_extent.c - see jemalloc_extent.h. The layouts are those of edata_t (extent_t before
 * jemalloc 5.3).
 */
#include "jemalloc_extent.h"

#include <string.h>

/* edata_t */
#define DESCRIPTOR_ADDRESS 8u
#define DESCRIPTOR_SIZE 16u
#define DESCRIPTOR_BITMAP 64u
#define DESCRIPTOR_BYTES_MAX (DESCRIPTOR_BITMAP + JEMALLOC_BITMAP_WORDS * HEAP_WORD)
#define ARENA_MASK 0xfffu
#define SLAB_SHIFT 12u
#define SIZE_CLASS_MASK 0xffu

/* Fields of the first word of a descriptor, after arena and slab. */
struct jemalloc_version {
	const char *name;
	uint8_t state_shift, state_mask;
	uint8_t size_class_shift, free_shift;
	uint8_t huge_shift;           /* 0: there is no allocator of huge pages */
	uint8_t descriptor_alignment; /* the map has flags in the bits below */
};

static const struct jemalloc_version versions[JEMALLOC_VERSIONS] = {
	{"jemalloc 5.3", 17, 7, 20, 28, 14, 128},
	{"jemalloc 5.1 or 5.2", 16, 3, 18, 26, 0, 64},
};

/* ---- forms ----------------------------------------------------------------------------------- */

/* The smallest blocks are of 8 bytes, and a slab of them is one page. */
static unsigned slab_blocks_max(const struct jemalloc_form *form)
{
	return 1u << (form->page_shift - 3);
}

static uint64_t page_mask(const struct jemalloc_form *form)
{
	return (1ull << form->page_shift) - 1;
}

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

/*
 * Blocks of less than four pages are in slabs. The bitmap of a slab begins with a bit for each
 * block; with more than 512 of them, sums over these follow.
 */
void jemalloc_form_set(struct jemalloc_form *form, unsigned version, unsigned page_shift)
{
	form->version = &versions[version];
	form->name = versions[version].name;
	form->page_shift = page_shift;
	form->slab_sizes = 4 * (page_shift - 3);
	form->bitmap_words = slab_blocks_max(form) / 64;
	fill_sizes(form->size);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

remote_addr jemalloc_descriptor(const struct jemalloc_form *form, uint64_t word)
{
	return (word & ((1ull << JEMALLOC_ADDRESS_BITS) - 1)) &
	       -(uint64_t)form->version->descriptor_alignment;
}

static bool is_extent(const struct jemalloc_form *form, const struct jemalloc_extent *extent)
{
	const uint64_t bytes = extent->hi - extent->lo;

	if (!bytes || bytes & page_mask(form) || extent->hi >> JEMALLOC_ADDRESS_BITS ||
	    extent->size_class > JEMALLOC_SIZES)
		return false;
	if (extent->state != JEMALLOC_ACTIVE || extent->size_class == JEMALLOC_SIZES)
		return true;
	if (!extent->is_slab)
		return form->size[extent->size_class] <= extent->hi - extent->block;
	return extent->size_class < form->slab_sizes &&
	       bytes / form->size[extent->size_class] <= slab_blocks_max(form) &&
	       extent->free <= bytes / form->size[extent->size_class];
}

int jemalloc_extent_read(struct heap_windows *windows, const struct jemalloc_form *form,
			 remote_addr at, struct jemalloc_extent *out_extent)
{
	const struct jemalloc_version *version = form->version;
	const size_t bitmap_bytes = form->bitmap_words * HEAP_WORD;
	uint8_t byte[DESCRIPTOR_BYTES_MAX];
	uint64_t bits, size;
	struct jemalloc_extent extent;
	const int err = heap_windows_read(windows, at, byte, DESCRIPTOR_BITMAP + bitmap_bytes);

	if (err)
		return err;
	memcpy(&bits, byte, sizeof(bits));
	memcpy(&extent.block, byte + DESCRIPTOR_ADDRESS, sizeof(extent.block));
	memcpy(&size, byte + DESCRIPTOR_SIZE, sizeof(size));
	memcpy(extent.bitmap, byte + DESCRIPTOR_BITMAP, bitmap_bytes);
	extent.lo = extent.block & ~page_mask(form);
	extent.hi = extent.lo + (size & ~page_mask(form));
	extent.arena = bits & ARENA_MASK;
	extent.is_slab = bits >> SLAB_SHIFT & 1;
	extent.state = bits >> version->state_shift & version->state_mask;
	extent.size_class = bits >> version->size_class_shift & SIZE_CLASS_MASK;
	extent.free = bits >> version->free_shift & (2 * slab_blocks_max(form) - 1);
	extent.is_of_huge_pages = version->huge_shift && (bits >> version->huge_shift & 1);
	*out_extent = extent;
	return is_extent(form, &extent);
}
