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

/*
 * marks_range(), but where the range has these lists, the address of the chunk that follows a block
 * is no pointer to the block.
 */
must_check int glibc_bins_mark_range(struct marks *marks, const struct mark_memory *memory,
				     uint64_t lo, uint64_t hi);

#endif
