/* SPDX-License-Identifier: MIT */
/* row_of_frame.h - aarch64: the row that says what libdw says of a frame. */
#ifndef HI_ROW_OF_FRAME_H
#define HI_ROW_OF_FRAME_H

#include <dwarf.h>

#include "dw_frame.h"
#include "hi_wire.h"

enum { BP = 29, PC = 30, SP = 31, WORD = 8 };

/* The vdso's rows are derived from its code. */
static const char *const described[] = {"unwind_table_libdw_test", "libc.so", "ld-linux", "libdw"};

/* The rows of hand-written code of libcrypto are derived, too. */
static const uint8_t odd_kinds[] = {HI_UNWIND_LINK};

/* Of a place that no row can count from the CFA, as it is too far from there. */
static inline struct hi_unwind_row row_near_base(int kind, int cfa, int place)
{
	if (cfa + place < 0 || cfa + place > INT8_MAX)
		return (struct hi_unwind_row){.kind = HI_UNWIND_NONE};
	return (struct hi_unwind_row){
		.kind = (uint8_t)kind, .cfa = (int16_t)cfa, .bp_slot = (int8_t)(cfa + place)};
}

static inline struct hi_unwind_row row_of_frame(Dwarf_Frame *frame)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	int64_t pc_offset, bp_offset;
	bool pc_same, bp_same, is_signal;
	Dwarf_Op *ops;
	size_t count;

	CHECK(dwarf_frame_info(frame, NULL, NULL, &is_signal) == PC);
	if (is_signal)
		return (struct hi_unwind_row){.kind = HI_UNWIND_SIGNAL};
	if (is_undefined(frame, PC))
		return (struct hi_unwind_row){.kind = HI_UNWIND_END};
	CHECK_EQ(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (count != 1 || !saved_at(frame, PC, &pc_same, &pc_offset) ||
	    !saved_at(frame, BP, &bp_same, &bp_offset))
		return none;
	const bool is_long = ops[0].atom == DW_OP_bregx;
	const uint64_t base = is_long ? ops[0].number : (uint64_t)ops[0].atom - DW_OP_breg0;
	const int64_t offset = (int64_t)(is_long ? ops[0].number2 : ops[0].number);
	const int cfa = (int)(offset / WORD), pc = (int)(pc_offset / WORD),
		  bp = (int)(bp_offset / WORD);

	if ((base != SP && base != BP) || offset % WORD || pc_offset % WORD || bp_offset % WORD ||
	    offset > INT16_MAX * WORD || pc_offset > 0 || bp_offset > 0)
		return none;
	if (!bp_same && !pc_same && pc == bp + 1) {
		if (bp < INT8_MIN)
			return row_near_base(base == SP ? HI_UNWIND_SP_RECORD : HI_UNWIND_BP_RECORD,
					     cfa, bp);
		return (struct hi_unwind_row){.kind = base == SP ? HI_UNWIND_SP : HI_UNWIND_BP,
					      .cfa = (int16_t)cfa,
					      .bp_slot = (int8_t)bp};
	}
	if (base == BP || !bp_same)
		return none;
	if (!pc_same && pc < INT8_MIN)
		return row_near_base(HI_UNWIND_ALONE, cfa, pc);
	return (struct hi_unwind_row){.kind = pc_same ? HI_UNWIND_LINK : HI_UNWIND_ALONE,
				      .cfa = (int16_t)cfa,
				      .bp_slot = (int8_t)(pc_same ? 0 : pc)};
}

#endif
