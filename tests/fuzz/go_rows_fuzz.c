/* SPDX-License-Identifier: MIT */
/*
 * go_rows_fuzz.c - the input is a table of functions of Go; its last bytes are also the code.
 *
 * Holds: only bytes of both are read, rows are sorted and within the code, and each says something
 * that a walker can follow.
 */
#include "go_rows.h"

#include "fuzz.h"

#define LO 0x10000u
#define CODE_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t code_size = size < CODE_MAX ? size : CODE_MAX;
	struct go_code code = {.code = data + size - code_size, .lo = LO, .hi = LO + code_size};
	struct go_rows rows;

	if (!size || hi_go_table_open(data, size, LO, &code.table) ||
	    go_rows_make(&code, &rows) != 0)
		return 0;
	for (size_t i = 0; i < rows.count; i++) {
		const struct hi_unwind_row *row = &rows.row[i];

		FUZZ_CHECK(row->pc < code_size && (i == 0 || row->pc > row[-1].pc));
		FUZZ_CHECK(row->kind == HI_UNWIND_NONE || row->kind == HI_UNWIND_END ||
			   row->kind == HI_UNWIND_SP || row->kind == HI_UNWIND_SPILLED ||
			   row->kind == HI_UNWIND_OTHER_STACK);
		FUZZ_CHECK(row->kind != HI_UNWIND_SP || row->cfa > 0);
		FUZZ_CHECK(row->bp_slot == 0);
	}
	go_rows_free(&rows);
	return 0;
}
