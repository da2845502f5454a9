/* SPDX-License-Identifier: MIT */
/*
 * unwind_row.h - unwind rules of .eh_frame (cfi.h) packed into one of the payload's rows
 * (hi_wire.h).
 */
#ifndef HI_UNWIND_ROW_H
#define HI_UNWIND_ROW_H

#include "cfi.h"
#include "hi_wire.h"

/* The frame of a function; places in words from the CFA, 0 = still in its register. */
struct unwind_frame {
	bool is_by_bp; /* the CFA is counted from bp, not from sp */
	int cfa;       /* from that register up to the CFA */
	int bp_slot, return_slot;
};
/* Its row, with pc not set. Its kind is NONE if no row can express the frame. */
struct hi_unwind_row unwind_row_of_frame(const struct unwind_frame *frame);

/*
 * The row that expresses `rules`, with pc not set. Its kind is NONE if no row can express them, or
 * if rules is NULL. is_signal: the rules belong to a signal frame.
 */
struct hi_unwind_row unwind_row(const struct cfi_rules *rules, bool is_signal);

#endif
