/* SPDX-License-Identifier: MIT */
/* row_builder.h - a growing list of unwind rows, for one text of an object. */
#ifndef HI_ROW_BUILDER_H
#define HI_ROW_BUILDER_H

#include <stddef.h>

#include "hi_wire.h"
#include "must_check.h"

struct row_builder {
	uint64_t lo, hi;           /* of the text, as addresses of the file */
	struct hi_unwind_row *row; /* sorted by pc = offset from lo; the caller frees it */
	uint32_t row_count;
	size_t capacity;
};

/*
 * Adds a row that is valid from pc on, unless it says the same as the row before. Calls must come
 * in ascending order of pc; at the same pc the last call counts. -ENOMEM.
 */
must_check int row_builder_push(struct row_builder *builder, uint64_t pc, struct hi_unwind_row row);

#endif
