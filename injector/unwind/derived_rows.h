/* SPDX-License-Identifier: MIT */
/*
 * derived_rows.h - unwind rows of code that comes without unwind information, read out of the code itself.
 *
 * For musl, whose libc has none: there every stack goes through it, at the latest below main. From each function's entry all paths are followed, with what they
 * do to the stack pointer and to the frame pointer. What is found counts only if it adds up: the same at a place however it is reached, and at each return the
 * stack pointer of the entry, and its frame pointer. Other functions have no rows.
 */
#ifndef HI_DERIVED_ROWS_H
#define HI_DERIVED_ROWS_H

#include "hi_wire.h"
#include "memory.h"

struct derived_code {
	const uint8_t *bytes;
	uint64_t lo, hi; /* addresses of bytes, as the file has them */
};

struct derived_rows {
	struct hi_unwind_row *row; /* one for each address of the code, pc unset; kind NONE where nothing is known */
	size_t count;
};

/* entry: addresses at which functions begin; others are found through calls. -ENOMEM. */
must_check int derived_rows_make(const struct derived_code *code, const uint64_t *entry, size_t entry_count, struct derived_rows *out_rows);
void derived_rows_free(struct derived_rows *rows);

#endif
