/* SPDX-License-Identifier: MIT */
/* dw_frame.h - where libdw finds the registers of a frame's caller. */
#ifndef HI_DW_FRAME_H
#define HI_DW_FRAME_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "unit.h"

/* Offset from the CFA at which libdw finds a register saved; false: not so simple. */
static inline bool saved_at(Dwarf_Frame *frame, int number, bool *out_same, int64_t *out_offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	CHECK_EQ(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
	*out_same = count == 0 && ops == NULL;
	*out_offset = count == 2 && ops[1].atom == DW_OP_plus_uconst ? (int64_t)ops[1].number : 0;
	return *out_same || (count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
			     ops[1].atom == DW_OP_plus_uconst);
}

static inline bool is_undefined(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	CHECK_EQ(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
	return count == 0 && ops == memory;
}

#endif
