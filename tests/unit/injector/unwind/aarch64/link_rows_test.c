/* SPDX-License-Identifier: MIT */
/*
 * link_rows_test.c - rows of functions that save x29 and x30 in one way or another, out of call
 * frame instructions.
 */
#include <dwarf.h>

#include "unit.h"
#include "unwind_row.h"

#define SP 31
#define BP 29
#define LINK 30
#define LO 0x1000u

/* Rules behind the last of these call frame instructions of a function. */
static struct hi_unwind_row row_behind(const uint8_t *program, size_t size)
{
	static const struct eh_section section;
	static const uint8_t initial[] = {DW_CFA_def_cfa, SP, 0};
	const struct eh_cie cie = {
		.is_usable = true,
		.code_factor = 4,
		.data_factor = -8,
		.program = {.at = initial, .end = initial + sizeof(initial)},
	};
	const struct eh_fde fde = {
		.lo = LO, .hi = LO + 0x100, .program = {.at = program, .end = program + size}};
	const struct eh_frame frame = {.section = section, .cie = (struct eh_cie *)&cie};
	struct cfi_rules rules;

	return cfi_find(&frame, &fde, LO + 0x80, &rules)
		       ? unwind_row(&rules, false)
		       : (struct hi_unwind_row){.kind = HI_UNWIND_NONE, .cfa = -1};
}
#define CHECK_ROW(kind_, cfa_, slot_, ...)                                                      \
	do {                                                                                    \
		const uint8_t program_[] = {__VA_ARGS__};                                       \
		const struct hi_unwind_row row_ = row_behind(program_, sizeof(program_));       \
		if (row_.kind != (kind_) || row_.cfa != (cfa_) || row_.bp_slot != (slot_))      \
			UNIT_FAIL("kind %d cfa %d slot %d", row_.kind, row_.cfa, row_.bp_slot); \
	} while (0)
#define SAVED(number, words) DW_CFA_offset | (number), (words)

UNIT_TEST(each_form_has_its_row)
{
	/* at the entry, and behind sub sp */
	CHECK_ROW(HI_UNWIND_LINK, 0, 0, DW_CFA_nop);
	CHECK_ROW(HI_UNWIND_LINK, 4, 0, DW_CFA_def_cfa_offset, 32);
	/* stp x29, x30, [sp, #-32]! */
	CHECK_ROW(HI_UNWIND_SP, 4, -4, DW_CFA_def_cfa_offset, 32, SAVED(BP, 4), SAVED(LINK, 3));
	CHECK_ROW(HI_UNWIND_BP, 4, -4, DW_CFA_def_cfa, BP, 32, SAVED(BP, 4), SAVED(LINK, 3));
	/* 2 kB below the CFA, 16 bytes above sp */
	CHECK_ROW(HI_UNWIND_SP_RECORD, 258, 2, DW_CFA_def_cfa_offset, 0x90, 0x10,
		  DW_CFA_offset_extended, BP, 0x80, 2, DW_CFA_offset_extended, LINK, 0xff, 1);
	CHECK_ROW(HI_UNWIND_BP_RECORD, 256, 0, DW_CFA_def_cfa, BP, 0x80, 0x10,
		  DW_CFA_offset_extended, BP, 0x80, 2, DW_CFA_offset_extended, LINK, 0xff, 1);
	/* str x30, [sp, #-16]!; and far below the CFA */
	CHECK_ROW(HI_UNWIND_ALONE, 2, -2, DW_CFA_def_cfa_offset, 16, SAVED(LINK, 2));
	CHECK_ROW(HI_UNWIND_ALONE, 256, 1, DW_CFA_def_cfa_offset, 0x80, 0x10,
		  DW_CFA_offset_extended, LINK, 0xff, 1);
	/* restored, and sp not yet */
	CHECK_ROW(HI_UNWIND_LINK, 4, 0, DW_CFA_def_cfa_offset, 32, SAVED(BP, 4), SAVED(LINK, 3),
		  DW_CFA_restore | BP, DW_CFA_restore | LINK);
	CHECK_ROW(HI_UNWIND_END, 0, 0, DW_CFA_undefined, LINK);
}

UNIT_TEST(forms_that_no_row_has)
{
	/* x30 below x29, or elsewhere; x29 alone; x30 alone, counted from x29; too large */
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa_offset, 32, SAVED(BP, 3), SAVED(LINK, 4));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa_offset, 32, SAVED(BP, 4), SAVED(LINK, 1));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa_offset, 32, SAVED(BP, 4));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa_offset, 16, SAVED(BP, 1));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa, BP, 32, SAVED(LINK, 3));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x10, SAVED(LINK, 3),
		  SAVED(BP, 4));
	CHECK_ROW(HI_UNWIND_NONE, 0, 0, DW_CFA_register, LINK, 9);
}

/* What says that the return address is signed ends no rows: as gcc writes it for paciasp. */
UNIT_TEST(signing_changes_no_row)
{
	const uint8_t signs = 0x2d, signs_with_pc = 0x2c;

	CHECK_ROW(HI_UNWIND_LINK, 0, 0, DW_CFA_advance_loc | 1, signs);
	CHECK_ROW(HI_UNWIND_SP, 2, -2, DW_CFA_advance_loc | 1, signs, DW_CFA_advance_loc | 1,
		  DW_CFA_def_cfa_offset, 16, SAVED(BP, 2), SAVED(LINK, 1));
	CHECK_ROW(HI_UNWIND_SP, 2, -2, signs_with_pc, DW_CFA_def_cfa_offset, 16, SAVED(BP, 2),
		  SAVED(LINK, 1));
}

UNIT_MAIN()
