/* SPDX-License-Identifier: MIT */
/*
 * leaked_blocks.h - the blocks of a running process to which none of its memory refers any more.
 *
 * The marking is that of reach/ (mark.h). Roots are all resident words of mappings that no
 * allocator has, shared ones included, but for stacks below the stack pointer. Registers are not
 * read, as no thread is stopped; a copy of a process that was stopped (memory_copy.h) has them. A
 * process that runs changes its memory while it is read: what was free then may be a block by now,
 * and is followed like one. And a block counts only if it was not reached at several times, and its
 * content is the same.
 */
#ifndef HI_LEAKED_BLOCKS_H
#define HI_LEAKED_BLOCKS_H

#include "census.h"
#include "used_blocks.h"
#include "inspected.h"

struct leaked_block {
	struct mark_block block;
	uint64_t content; /* a sum over its first bytes */
	/*
	 * The block from which it was found: itself for one to which no leaked block refers
	 * (struct marks: leader), by index.
	 */
	uint32_t leader;
};

struct leaked_blocks {
	struct leaked_block *block; /* by address */
	size_t count;
};

/* Blocks that are not reached now. 0, -ENOMEM, -ETIMEDOUT, or an error of the memory. */
must_check int leaked_blocks_find(struct inspected *inspected, const struct used_blocks *blocks,
				  struct leaked_blocks *out_leaked);
/* Leaves in `leaked` those that `before` has, too. */
void leaked_blocks_keep_both(struct leaked_blocks *leaked, const struct leaked_blocks *before);
/* Those to which no leaked block refers, and what each is counted as. */
struct leaked_leaders {
	struct mark_block *block; /* by address */
	uint32_t *group;          /* by block: of the census */
	size_t count;
};

/*
 * Counts those to which no leaked block refers, by content, each with what only it refers to,
 * directly or by way of others. *out_leaders: to be closed in either case.
 */
must_check int leaked_blocks_count(const struct leaked_blocks *leaked,
				   const struct heap_source *source, struct content_reader *reader,
				   struct leaked_leaders *out_leaders, struct census *out_census);
void leaked_leaders_close(struct leaked_leaders *leaders);
void leaked_blocks_close(struct leaked_blocks *leaked);

#endif
