/* SPDX-License-Identifier: MIT */
/*
 * derived_rows.h - unwind rows of code without unwind information, derived from the code itself.
 *
 * Needed for musl, whose libc has none: there every stack passes through libc, at the latest below
 * main. The injector follows all paths from each function's entry and tracks what they do to the
 * stack pointer and the frame pointer. The result counts only if it is consistent: it must be the
 * same at a place on every path that reaches it, and each return must have the stack pointer and
 * the frame pointer of the entry. Functions that fail this get no rows.
 */
#ifndef HI_DERIVED_ROWS_H
#define HI_DERIVED_ROWS_H

#include "hi_wire.h"
#include "memory.h"

struct derived_code {
	const uint8_t *bytes;
	uint64_t lo, hi; /* addresses of the bytes in the file */
};

struct derived_rows {
	/* one for each address of the code, pc not set; kind NONE where nothing is known */
	struct hi_unwind_row *row;
	size_t count;
};

/* entry: addresses at which functions begin; further functions are found through calls. -ENOMEM. */
must_check int derived_rows_make(const struct derived_code *code, const uint64_t *entry,
				 size_t entry_count, struct derived_rows *out_rows);
void derived_rows_free(struct derived_rows *rows);

#endif
