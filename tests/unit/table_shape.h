/* SPDX-License-Identifier: MIT */
/* table_shape.h - what must be true of any table of unwind rows, whatever it was made from. */
#ifndef HI_TABLE_SHAPE_H
#define HI_TABLE_SHAPE_H

#include "unit.h"
#include "unwind_table.h"

static inline bool is_row(const struct hi_unwind_row *row, int kind, int cfa, int bp_slot)
{
	return row->kind == kind && row->cfa == cfa && row->bp_slot == bp_slot;
}

static inline void check_shape(const struct unwind_table *table)
{
	const uint64_t size = table->hi - table->lo;

	CHECK(table->row_count >= 1);
	CHECK_EQ(table->row[0].pc, 0);
	for (uint32_t i = 1; i < table->row_count; i++) {
		CHECK(table->row[i].pc > table->row[i - 1].pc);
		CHECK(table->row[i].pc < size);
		CHECK(!is_row(&table->row[i], table->row[i - 1].kind, table->row[i - 1].cfa,
			      table->row[i - 1].bp_slot));
		CHECK(unwind_table_find(table, table->lo + table->row[i].pc) == &table->row[i]);
		CHECK(unwind_table_find(table, table->lo + table->row[i].pc - 1) ==
		      &table->row[i - 1]);
	}
	CHECK(unwind_table_find(table, table->hi - 1) == &table->row[table->row_count - 1]);
	CHECK_EQ(table->index_count, size / HI_INDEX_BYTES + 2);
	for (uint32_t i = 0, row = 0; i < table->index_count; i++) {
		while (row + 1 < table->row_count &&
		       table->row[row + 1].pc <= (uint64_t)i * HI_INDEX_BYTES)
			row++;
		CHECK_EQ(table->index[i], row);
	}
}

#endif
