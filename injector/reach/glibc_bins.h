/* SPDX-License-Identifier: MIT */
/*
 * glibc_bins.h - the lists of free memory that glibc's malloc keeps in its data, which are roots
 * like any other data, and refer to blocks that they are not about.
 *
 * malloc puts the head of a chunk of free memory into the last word of the block before it, if
 * that has so many bytes; so the address of the chunk, in the lists, is one of the block's. Where
 * the lists are is not public. But an empty list has two words that hold their own address less
 * two words, and nearly all of 127 lists are empty.
 */
#ifndef HI_GLIBC_BINS_H
#define HI_GLIBC_BINS_H

#include "mark.h"

/* The empty lists of an arena that were found. Zero-initialized = none. */
struct glibc_bins {
	uint64_t first, last; /* addresses of their first words */
	uint64_t count;
	uint64_t at, word; /* private */
};

/* The part of a range that has these lists. lo == hi: it has none. */
struct glibc_bins_part {
	uint64_t lo, hi;
};
must_check int glibc_bins_find_part(const struct mark_memory *memory, uint64_t lo, uint64_t hi,
				    struct glibc_bins_part *out_part);
/*
 * marks_range(), but where the range has these lists, the address of the chunk that follows a block
 * is no pointer to the block.
 */
must_check int glibc_bins_mark_range(struct marks *marks, const struct mark_memory *memory,
				     uint64_t lo, uint64_t hi);

/* Two words in a row, as links are. Those that are not there are 0. */
struct glibc_pair {
	uint64_t at, word[2];
};
must_check int glibc_pair_read(const struct mark_memory *memory, uint64_t at,
			       struct glibc_pair *out_pair);

/* Is the word the address of the chunk that follows the block? */
bool glibc_bins_is_next_chunk(const struct mark_block *block, uint64_t word);
/*
 * Is the word how a chunk in one of these lists, of any arena, refers to the list itself? No
 * program has that of malloc. bins: what was found the last time, and is looked at first.
 */
must_check int glibc_bins_has_list(struct glibc_bins *bins, const struct mark_memory *memory,
				   uint64_t word, bool *out_has);

#endif
