/* SPDX-License-Identifier: MIT */
/*
 * glibc_links.h - what glibc's malloc leaves in blocks that were in its lists before.
 *
 * A chunk in a list has the address of the next chunk and of the one before in two words, where the
 * block will be; a large one, in two more, those of the chunks of other sizes. malloc does not
 * clear them. They come to lie within a block when chunks become one. The address of a chunk is one
 * of the block before it (glibc_bins.h), so that a program that does not write over them would seem
 * to refer to that block.
 *
 * The same word may be a pointer to the last word of a block, as of a second base class or of a
 * link at the end of a struct. So it is taken for malloc's only beside one that no program has:
 *   - the other word of the pair is the address of one of malloc's own lists: a chunk that malloc
 *     takes is mostly the first or the last of its list;
 *   - both words are the address of their own chunk, which was the only one of its size, and the
 *     pair before them has such a list.
 * Others remain, and hide leaks: a pair of two chunks, and one that was written over in part.
 */
#ifndef HI_GLIBC_LINKS_H
#define HI_GLIBC_LINKS_H

#include "glibc_bins.h"

struct glibc_links {
	/*
	 * Is walked while the blocks are: whose words may then not change. Words that cannot be
	 * read are taken for 0.
	 */
	const struct mark_memory *memory;
	struct glibc_bins bins; /* private */
};

/* For struct marks. links: with its memory; has to outlive what is returned. */
struct mark_links glibc_links(struct glibc_links *links);

#endif
