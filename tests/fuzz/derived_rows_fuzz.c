/* SPDX-License-Identifier: MIT */
/*
 * derived_rows_fuzz.c - the input is code, its first bytes say where functions begin.
 *
 * Holds: only bytes of the code are read, all rows are of a kind that is derived, and each says
 * something that a walker can follow upwards.
 */
#include "derived_rows.h"

#include "fuzz.h"

#define LO 0x10000u
#define ENTRIES 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t entry[ENTRIES];
	struct derived_rows rows;

	if (size <= ENTRIES)
		return 0;
	for (size_t i = 0; i < ENTRIES; i++)
		entry[i] = LO + data[i];
	const struct derived_code code = {
		.bytes = data + ENTRIES, .lo = LO, .hi = LO + size - ENTRIES};
	FUZZ_CHECK(derived_rows_make(&code, entry, ENTRIES, &rows) == 0);
	FUZZ_CHECK(rows.count == size - ENTRIES);
	for (size_t i = 0; i < rows.count; i++) {
		const struct hi_unwind_row *row = &rows.row[i];

		FUZZ_CHECK(row->kind == HI_UNWIND_NONE || row->kind == HI_UNWIND_SP ||
			   row->kind == HI_UNWIND_BP || row->kind == HI_UNWIND_END ||
			   row->kind == HI_UNWIND_SIGNAL);
		FUZZ_CHECK((row->kind != HI_UNWIND_SP && row->kind != HI_UNWIND_BP) ||
			   row->cfa > 0);
		FUZZ_CHECK(row->bp_slot <= 0);
	}
	derived_rows_free(&rows);
	return 0;
}
