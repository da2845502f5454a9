/* SPDX-License-Identifier: MIT */
/* row_of_frame.h - x86-64: the row that says what libdw says of a frame. */
#ifndef HI_ROW_OF_FRAME_H
#define HI_ROW_OF_FRAME_H

#include <dwarf.h>
#include <stddef.h>
#include <ucontext.h>

#include "dw_frame.h"
#include "hi_wire.h"

enum { BP = 6, SP = 7, PC = 16, WORD = 8 };

static const char *const described[] = {"unwind_table_libdw_test", "libc.so", "ld-linux", "libdw",
					"[vdso]"};

/* What hand-written code of libcrypto needs. */
static const uint8_t odd_kinds[] = {HI_UNWIND_SPILLED, HI_UNWIND_SCRATCH, HI_UNWIND_INDEXED};

static inline bool is_saved_at_bp(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	CHECK_EQ(dwarf_frame_register(frame, BP, memory, &ops, &count), 0);
	/* The CFA lies on the stack of the expression before it begins. */
	return count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_breg6 &&
	       ops[1].number == 0;
}

/* Where the kernel's ucontext has a register, in words. */
static inline int word_of(uint64_t number)
{
	static const int place[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				      REG_R12, REG_R13, REG_R14, REG_R15};

	CHECK(number < 16);
	return (int)offsetof(ucontext_t, uc_mcontext.gregs) / WORD + place[number];
}

/* Rows of hand-written code; false: this is something else. */
static inline bool row_of_assembly(const Dwarf_Op *ops, size_t count, struct hi_unwind_row *row)
{
	const bool has_more = count > 1 && ops[count - 1].atom == DW_OP_plus_uconst;
	const int64_t more = has_more ? (int64_t)ops[--count].number / WORD : 0;
	int high, low;

	if (count == 2 && ops[0].atom == DW_OP_breg7 && ops[1].atom == DW_OP_deref) {
		row->kind = HI_UNWIND_SPILLED;
		high = (int)((int64_t)ops[0].number / WORD);
		low = (int)more;
	} else if (count == 6 && ops[0].atom == DW_OP_breg7 && ops[0].number == WORD &&
		   ops[2].atom == DW_OP_lit8 && ops[5].atom == DW_OP_deref) {
		row->kind = HI_UNWIND_INDEXED;
		high = (int)more;
		low = word_of((uint64_t)ops[1].atom - DW_OP_breg0);
	} else if (count == 1 && !has_more) {
		high = (int)((int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2
								  : ops[0].number) /
			     WORD);
		const uint64_t number = ops[0].atom == DW_OP_bregx
						? ops[0].number
						: (uint64_t)ops[0].atom - DW_OP_breg0;

		row->kind = number == 3 || (number >= 12 && number <= 15) ? HI_UNWIND_REGISTER
									  : HI_UNWIND_SCRATCH;
		low = word_of(number);
	} else {
		return false;
	}
	row->cfa = (int16_t)(high * 32 + low);
	return true;
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
	if (!saved_at(frame, PC, &pc_same, &pc_offset) || pc_offset != -WORD)
		return none;
	if (count == 9 && ops[1].atom == DW_OP_breg16)
		return (struct hi_unwind_row){.kind = HI_UNWIND_PLT,
					      .cfa = (int16_t)(ops[4].atom - DW_OP_lit0)};
	if (count == 2 && ops[0].atom == DW_OP_breg6 && ops[1].atom == DW_OP_deref &&
	    is_saved_at_bp(frame))
		return (struct hi_unwind_row){.kind = HI_UNWIND_BP_DEREF,
					      .cfa = (int16_t)((int64_t)ops[0].number / WORD)};
	if (!saved_at(frame, BP, &bp_same, &bp_offset) || bp_offset % WORD || bp_offset > 0 ||
	    bp_offset < INT8_MIN * WORD)
		return none;
	const uint64_t base =
		ops[0].atom == DW_OP_bregx ? ops[0].number : (uint64_t)ops[0].atom - DW_OP_breg0;
	const int64_t offset =
		(int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
	if (count != 1 || (base != SP && base != BP)) {
		struct hi_unwind_row row = {.bp_slot = (int8_t)(bp_offset / WORD)};

		return row_of_assembly(ops, count, &row) ? row : none;
	}
	if (offset % WORD || offset > INT16_MAX * WORD)
		return none;
	return (struct hi_unwind_row){.kind = base == SP ? HI_UNWIND_SP : HI_UNWIND_BP,
				      .cfa = (int16_t)(offset / WORD),
				      .bp_slot = (int8_t)(bp_offset / WORD)};
}

#endif
