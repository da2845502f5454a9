/* SPDX-License-Identifier: MIT */
/*
 * unwind_row.h - unwind rules of .eh_frame (cfi.h) packed into one of the payload's rows
 * (hi_wire.h).
 */
#ifndef HI_UNWIND_ROW_H
#define HI_UNWIND_ROW_H

#include "cfi.h"
#include "hi_wire.h"

/*
 * The row that expresses `rules`, with pc not set. Its kind is NONE if no row can express them, or
 * if rules is NULL. is_signal: the rules belong to a signal frame.
 */
struct hi_unwind_row unwind_row(const struct cfi_rules *rules, bool is_signal);

#endif
