/* SPDX-License-Identifier: MIT */
/*
 * filter_rows.h - filters the rows of a profile, once the filtered stacks are known.
 *
 * A row has samples of several threads, which tag filters tell apart: what is left is the sum of
 * the threads that pass. Figures that are not counted by thread are divided in the same ratio as
 * those that are. Rows whose stacks have become equal stay separate rows, so that each keeps the
 * weight of its samples.
 */
#ifndef HI_FILTER_ROWS_H
#define HI_FILTER_ROWS_H

#include "filter_tags.h"
#include "profile.h"

#define FILTER_GONE UINT32_MAX

struct filter_rows {
	const struct profile *from;
	struct profile *into; /* has no rows yet */
	/* by stack of `from`: the one in `into`; FILTER_GONE = nothing is left of it */
	const uint32_t *stack;
	const struct filter_tag *focus, *ignore; /* may be unset */
	/* set by filter_rows(): the tag matched something, perhaps only in stacks that are gone */
	bool is_focus_matched, is_ignore_matched;
	/*
	 * made by filter_rows(), the caller frees it: by row of `into`, the row of `from` that it
	 * is made of
	 */
	uint32_t *origin;
};

/* A row of these counts, and of the row's other figures in the same ratio. */
struct profile_row filter_row_of(const struct profile_row *row, const struct part *kept);
/* Copies the rows with their histories, and the threads with their parts. 0 or -ENOMEM. */
int filter_rows(struct filter_rows *rows);

#endif
