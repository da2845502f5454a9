/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_extent.h - what jemalloc's descriptor of an extent says.
 *
 * An extent is whole pages: one block, or a slab of blocks of one size, or free. The fields of its
 * descriptor differ by the version, and by the size of jemalloc's own pages, which is chosen when
 * it is built: 4 KB on most systems, 16 or 64 KB where the kernel's may be as large (Debian's for
 * arm64: 64 KB).
 */
#ifndef HI_JEMALLOC_EXTENT_H
#define HI_JEMALLOC_EXTENT_H

#include "heap_slabs.h"

#define JEMALLOC_ADDRESS_BITS 48u /* of its map, whatever the kernel has */
#define JEMALLOC_VERSIONS 2u
#define JEMALLOC_SIZES 232u        /* classes; blocks of the first ones are in slabs */
#define JEMALLOC_BITMAP_WORDS 128u /* of the largest slab, with pages of 64 KB */

enum jemalloc_state {
	JEMALLOC_ACTIVE,
	JEMALLOC_DIRTY, /* free, as it was left */
	JEMALLOC_MUZZY, /* free, and the kernel may take its pages */
	JEMALLOC_RETAINED,
	/* others: it is about to change */
};

struct jemalloc_version; /* where the fields of a descriptor are */

/* One build of jemalloc. */
struct jemalloc_form {
	const struct jemalloc_version *version;
	const char *name; /* of the allocator, with its versions */
	unsigned page_shift;
	unsigned slab_sizes; /* of the classes */
	unsigned bitmap_words;
	uint64_t size[JEMALLOC_SIZES];
};

struct jemalloc_extent {
	remote_addr lo, hi;
	remote_addr block; /* if it is one: it may begin in the first page's middle */
	unsigned arena;
	unsigned state;
	unsigned size_class; /* JEMALLOC_SIZES: it is not in use */
	bool is_slab;
	bool is_of_huge_pages; /* of the allocator of huge pages, which is not understood */
	unsigned free;         /* blocks of a slab */
	uint64_t bitmap[JEMALLOC_BITMAP_WORDS]; /* of them, bit by bit */
};

/* version: below JEMALLOC_VERSIONS. */
void jemalloc_form_set(struct jemalloc_form *form, unsigned version, unsigned page_shift);

/* The descriptor that a word of the map leads to, or 0. */
remote_addr jemalloc_descriptor(const struct jemalloc_form *form, uint64_t word);

/* 1; 0: there is no extent; else as heap_windows_read. */
must_check int jemalloc_extent_read(struct heap_windows *windows, const struct jemalloc_form *form,
				    remote_addr at, struct jemalloc_extent *out_extent);

#endif
