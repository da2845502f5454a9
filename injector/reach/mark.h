/* SPDX-License-Identifier: MIT */
/*
 * mark.h - which blocks of a heap are still referred to, by conservative marking, as leak checkers
 * and conservative garbage collectors do it.
 *
 * The caller gives the live blocks, marks what the roots refer to (marks_words, marks_range,
 * marks_block), and lets that spread through the blocks (marks_spread). Blocks that are not reached
 * then are leaked, and marks_sort_out tells those to which another leaked block refers from the
 * others.
 *
 * Which words are pointers is in block_index.h.
 *
 * Functions over numbers: the memory is behind struct mark_memory, and there need be no process.
 */
#ifndef HI_MARK_H
#define HI_MARK_H

#include "block_edges.h"
#include "block_index.h"

enum mark_state {
	MARK_LEAKED, /* no word of a root, of a reached block or of another leaked one refers to it
		      */
	MARK_INDIRECT, /* only leaked blocks refer to it */
	MARK_REACHED,
};

/* Zero-initialized = empty. */
struct marks {
	const struct mark_block *block; /* the caller's */
	/* The caller's, which may set it after marks_open. NULL: no word is such a link. */
	const struct mark_links *links;
	uint32_t count;
	uint8_t *state; /* by block: enum mark_state */
	/*
	 * By leaked block, after marks_sort_out: the block from which it was found, which is itself
	 * for one to which none refers. In a ring of blocks that refer to each other it is one of
	 * them.
	 */
	uint32_t *leader;
	/* The rest is private. */
	uint32_t passed; /* blocks that marks_spread has looked through, in their order */
	uint32_t *todo, todo_count;
	struct block_edges edges;
	struct block_index index;
};

/*
 * block: sorted by address, each address once, none 0; has to outlive the marks. Blocks that
 * overlap are allowed: a word refers to the last one that begins before it. 0, -E2BIG, -ENOMEM.
 */
must_check int marks_open(struct marks *marks, const struct mark_block *block, size_t count);
void marks_close(struct marks *marks);

/* Roots. These reach what they refer to, and no further. */
void marks_words(struct marks *marks, const uint64_t *word, size_t count);
/* The same, but a word of which `is_none` says so is no pointer to the block that it leads to. */
typedef bool mark_is_none(const struct mark_block *block, uint64_t word);
void marks_words_but(struct marks *marks, const uint64_t *word, size_t count,
		     mark_is_none *is_none);
must_check int marks_range(struct marks *marks, const struct mark_memory *memory, uint64_t lo,
			   uint64_t hi);
void marks_block(struct marks *marks, uint32_t index);
/* From what was reached to all that it refers to, directly or by way of other blocks. */
must_check int marks_spread(struct marks *marks, const struct mark_memory *memory);
/* Of what was not reached: state and leader. */
must_check int marks_sort_out(struct marks *marks, const struct mark_memory *memory);

#endif
