/* SPDX-License-Identifier: MIT */
/*
 * filter_rows.h - what a filter leaves of the rows of a profile, once it is known what it leaves of their stacks.
 *
 * A row has samples of several threads, which tag filters tell apart: what is left is the sum of the threads that pass. What is not counted by thread is
 * divided as what is. Rows whose stacks have become one stay rows of their own, so that each keeps the weight of its samples.
 */
#ifndef HI_FILTER_ROWS_H
#define HI_FILTER_ROWS_H

#include "filter_tags.h"
#include "profile.h"

#define FILTER_GONE UINT32_MAX

struct filter_rows {
	const struct profile *from;
	struct profile *into;                     /* has no rows yet */
	const uint32_t *stack;                    /* by stack of `from`: the one in `into`; FILTER_GONE = nothing is left of it */
	const struct filter_tag *focus, *ignore;  /* may be unset */
	bool is_focus_matched, is_ignore_matched; /* set here: by anything at all, also in stacks that are gone */
	uint32_t *origin;                         /* made here, and the caller's to free: by row of `into`, the one in `from` that it is left of */
};

/* Rows with their histories, and threads with their parts. 0 or -ENOMEM. */
int filter_rows(struct filter_rows *rows);

#endif
