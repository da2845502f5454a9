/* SPDX-License-Identifier: MIT */
/* unwind_row.h - unwind rules of .eh_frame (cfi.h) packed into a row of the payload's (hi_wire.h). */
#ifndef HI_UNWIND_ROW_H
#define HI_UNWIND_ROW_H

#include "cfi.h"
#include "hi_wire.h"

/* The row that says what `rules` say, without its pc. Of kind NONE where no row can say it, or rules is NULL. is_signal: they are of a signal frame. */
struct hi_unwind_row unwind_row(const struct cfi_rules *rules, bool is_signal);

#endif
