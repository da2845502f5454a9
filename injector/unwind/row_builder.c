/* SPDX-License-Identifier: MIT */
/* row_builder.c - see row_builder.h. */
#include "row_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool says_the_same(const struct hi_unwind_row *a, const struct hi_unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->bp_slot == b->bp_slot;
}

int row_builder_push(struct row_builder *builder, uint64_t pc, struct hi_unwind_row row)
{
	row.pc = pc > builder->lo ? (uint32_t)(pc - builder->lo) : 0;
	if (builder->row_count && builder->row[builder->row_count - 1].pc == row.pc)
		builder->row_count--;
	if (builder->row_count && says_the_same(&builder->row[builder->row_count - 1], &row))
		return 0;
	if (builder->row_count == builder->capacity) {
		const size_t capacity = builder->capacity ? builder->capacity * 2 : 1024;
		struct hi_unwind_row *grown = reallocarray(builder->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		builder->row = grown;
		builder->capacity = capacity;
	}
	builder->row[builder->row_count++] = row;
	return 0;
}
