/* SPDX-License-Identifier: MIT */
/*
 * words.h - the memory of a process for mark.h: words that may be pointers, read from outside.
 *
 * Pages that were never written to hold no pointer to a block, so that of large ranges only the
 * others are read: a program may have reserved far more than the machine has. What is not mapped is
 * left out. No thread need be stopped for the reads themselves; for what they say all must be.
 *
 * Blocks are mostly small, and have others beside them: for a small range the pages around it are
 * read, and kept, so that a read is not needed for each. What is kept is bounded; with more, the
 * oldest at the same place goes.
 */
#ifndef HI_WORDS_H
#define HI_WORDS_H

#include "mark.h"
#include "pages.h"

struct words {
	const struct memory *memory;
	struct pages pages;
	uint64_t deadline_ns; /* clock.h; after that a walk ends with -ETIMEDOUT */
	/*
	 * To be set after words_open: the process lives on, and no page is touched that is not in
	 * its memory. Words of pages that are swapped out count as 0 then.
	 */
	bool is_sparing;
	/*
	 * To be set before a walk: the range is of shared memory, whose pages are nobody's own, and
	 * may have pointers all the same.
	 */
	bool is_shared;
	uint64_t bytes; /* that were walked */
	uint64_t reads; /* of the process's memory */
	uint64_t *buffer;
	/* pages that were read: words, and by place the address of their first one + 1 */
	uint64_t *kept, *kept_at;
};

/* 0 or -ENOMEM. memory has to outlive it. */
must_check int words_open(struct words *words, const struct memory *memory, uint64_t deadline_ns);
void words_close(struct words *words);
/* All is read anew from here on: the process runs. */
void words_forget(struct words *words);
/* Valid as long as words is. */
struct mark_memory words_memory(struct words *words);

#endif
