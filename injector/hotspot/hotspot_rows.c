/* SPDX-License-Identifier: MIT */
/* hotspot_rows.c - see hotspot_rows.h. Start at hotspot_rows_build(). */
#include "hotspot_rows.h"

#include <errno.h>
#include <stdlib.h>

#define FRAME_CFA (HI_ARCH_FRAME_CFA / 8) /* in words */

static struct hi_unwind_row row_of(const struct hotspot_blob *blob)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};

	switch (blob->kind) {
	case HOTSPOT_INTERPRETER:
		return (struct hi_unwind_row){.kind = HI_UNWIND_BP_SP,
					      .cfa = HOTSPOT_SENDER_SP,
					      .bp_slot = (int8_t)blob->method_slot};
	case HOTSPOT_CALL_STUB:
		return (struct hi_unwind_row){
			.kind = HI_UNWIND_BP, .cfa = FRAME_CFA, .bp_slot = HI_ARCH_FRAME_BP_SLOT};
	default:
		if (blob->frame_words < FRAME_CFA || blob->frame_words > INT16_MAX)
			return none;
		return (struct hi_unwind_row){.kind = HI_UNWIND_SP,
					      .cfa = (int16_t)blob->frame_words,
					      .bp_slot = HI_ARCH_FRAME_BP_SLOT};
	}
}

/* Adds a row, or changes the last one if it would cover nothing. */
static void push(struct unwind_table *table, remote_addr pc, struct hi_unwind_row row)
{
	row.pc = (uint32_t)(pc - table->lo);
	if (table->row[table->row_count - 1].pc != row.pc)
		table->row_count++;
	table->row[table->row_count - 1] = row;
}

int hotspot_rows_build(const struct hotspot_code *code, const struct hotspot_heap *heap,
		       struct unwind_table *out_table)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	struct unwind_table table = {.lo = heap->lo, .hi = heap->hi};
	remote_addr end = heap->lo;

	table.row = calloc(HOTSPOT_ROWS_PER_BLOB * heap->count + 1, sizeof(*table.row));
	if (!table.row)
		return -ENOMEM;
	table.row_count = 1;
	for (size_t i = heap->first; i < heap->first + heap->count; i++) {
		const struct hotspot_blob *blob = &code->blob[i];
		/* the stubs of a JVM that have no complete frame say -1, which is read as 0 */
		const remote_addr complete = blob->lo + blob->complete;

		if (blob->lo < end || blob->hi > heap->hi || complete >= blob->hi)
			continue;
		push(&table, blob->lo, none);
		push(&table, complete, row_of(blob));
		if (blob->hi < heap->hi)
			push(&table, blob->hi, none);
		end = blob->hi;
	}
	const int err = unwind_table_index(&table);

	if (err)
		unwind_table_close(&table);
	else
		*out_table = table;
	return err;
}
