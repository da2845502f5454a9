/* SPDX-License-Identifier: MIT */
/*
 * unwind_row.c - converts the rules at one pc to a row. Enter at unwind_row, the last function; the
 * functions before it recognize the expressions that compilers, linkers and hand-written code use.
 */
#include "unwind_row.h"

#include <dwarf.h>

#include "arch.h"

#define WORD_BYTES 8

/*
 * *(sp + offset) + more, or *(sp + 8 + 8 * index) + more: used by hand-written code that has
 * aligned its stack.
 */
struct spilled {
	bool is_indexed;
	uint64_t index; /* register number */
	int64_t offset, more;
};

static bool is_spilled(struct dwarf_cursor expression, struct spilled *out_spilled)
{
	struct spilled spilled = {.is_indexed = false};
	uint8_t operation;

	if (dwarf_byte(&expression) != DW_OP_breg0 + ARCH_DWARF_SP)
		return false;
	spilled.offset = dwarf_sleb(&expression);
	operation = dwarf_byte(&expression);
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
		spilled.is_indexed = true;
		spilled.index = operation - DW_OP_breg0;
		if (dwarf_sleb(&expression) != 0 ||
		    dwarf_byte(&expression) != DW_OP_lit0 + WORD_BYTES ||
		    dwarf_byte(&expression) != DW_OP_mul || dwarf_byte(&expression) != DW_OP_plus)
			return false;
		operation = dwarf_byte(&expression);
	}
	if (operation != DW_OP_deref)
		return false;
	if (dwarf_left(&expression)) {
		if (dwarf_byte(&expression) != DW_OP_plus_uconst)
			return false;
		spilled.more = (int64_t)dwarf_uleb(&expression);
	}
	*out_spilled = spilled;
	return !expression.failed && dwarf_left(&expression) == 0;
}

/* *(bp + offset): used by compilers for frames that have realigned their stack. */
static bool is_bp_deref(struct dwarf_cursor expression, int64_t *out_offset)
{
	const bool is_bp = dwarf_byte(&expression) == DW_OP_breg0 + ARCH_DWARF_BP;

	*out_offset = dwarf_sleb(&expression);
	return is_bp && dwarf_byte(&expression) == DW_OP_deref && !expression.failed &&
	       dwarf_left(&expression) == 0;
}

/* Converts offset to words. False: it is not a whole number of words within [least, most]. */
static bool to_words(int64_t offset, int least, int most, int *out_words)
{
	if (offset % WORD_BYTES || offset / WORD_BYTES < least || offset / WORD_BYTES > most)
		return false;
	*out_words = (int)(offset / WORD_BYTES);
	return true;
}

/* Packs two numbers into one field, see hi_wire.h. False: they do not fit. */
static bool pack_cfa(int low, int64_t high_bytes, int16_t *out_cfa)
{
	int high;

	if (low < 0 || low != HI_UNWIND_LOW(low) ||
	    !to_words(high_bytes, HI_UNWIND_HIGH(INT16_MIN), HI_UNWIND_HIGH(INT16_MAX), &high))
		return false;
	*out_cfa = (int16_t)(high * (1 << HI_UNWIND_LOW_BITS) + low);
	return true;
}

static struct hi_unwind_row row_from_spilled(const struct spilled *spilled, int bp_slot)
{
	struct hi_unwind_row row = {.bp_slot = (int8_t)bp_slot};
	int more;

	if (spilled->is_indexed && spilled->offset == WORD_BYTES &&
	    !arch_is_kept_by_calls(spilled->index) &&
	    pack_cfa(arch_signal_word(spilled->index), spilled->more, &row.cfa))
		row.kind = HI_UNWIND_INDEXED;
	else if (!spilled->is_indexed && spilled->offset >= -WORD_BYTES &&
		 to_words(spilled->more, 0, HI_UNWIND_LOW(-1), &more) &&
		 pack_cfa(more, spilled->offset, &row.cfa))
		row.kind = HI_UNWIND_SPILLED;
	else
		row.bp_slot = 0;
	return row;
}

static struct hi_unwind_row row_from_register(const struct cfi_rules *rules, int bp_slot)
{
	struct hi_unwind_row row = {.kind = HI_UNWIND_NONE};

	if (pack_cfa(arch_signal_word(rules->cfa_register), rules->cfa_offset, &row.cfa)) {
		row.kind = arch_is_kept_by_calls(rules->cfa_register) ? HI_UNWIND_REGISTER
								      : HI_UNWIND_SCRATCH;
		row.bp_slot = (int8_t)bp_slot;
	}
	return row;
}

/* Where a register of the caller is, in words from the CFA; false: no row can express it. */
static bool saved_in_words(const struct cfi_saved *saved, int *out_slot)
{
	*out_slot = 0;
	return saved->where == CFI_SAME ||
	       (saved->where == CFI_AT_CFA && to_words(saved->offset, INT16_MIN, -1, out_slot));
}

static bool bp_in_words(const struct cfi_rules *rules, int *out_slot)
{
	return saved_in_words(&rules->bp, out_slot) && *out_slot >= INT8_MIN;
}

/* Is the return address where rows of most kinds have it? */
static bool is_return_address_known(const struct cfi_rules *rules)
{
	int bp_slot = 0;

	if (HI_ARCH_LINK_REGISTER && (!bp_in_words(rules, &bp_slot) || !bp_slot))
		return false;
	return rules->pc.where == CFI_AT_CFA &&
	       rules->pc.offset == WORD_BYTES * HI_ARCH_RETURN_SLOT(bp_slot);
}

/* A place counted from the register from which the CFA is counted. */
static struct hi_unwind_row row_near_base(uint8_t kind, const struct unwind_frame *frame, int slot)
{
	const int from_base = frame->cfa + slot;

	if (from_base < 0 || from_base > INT8_MAX)
		return (struct hi_unwind_row){.kind = HI_UNWIND_NONE};
	return (struct hi_unwind_row){
		.kind = kind, .cfa = (int16_t)frame->cfa, .bp_slot = (int8_t)from_base};
}

/* Where calls leave the return address in a register, and it was not saved above bp. */
static struct hi_unwind_row row_of_return(const struct unwind_frame *frame)
{
	struct hi_unwind_row row = {.kind = HI_UNWIND_NONE};

	if (frame->is_by_bp || frame->bp_slot || frame->cfa < 0)
		return row;
	if (frame->return_slot && frame->return_slot < INT8_MIN)
		return row_near_base(HI_UNWIND_ALONE, frame, frame->return_slot);
	row.kind = frame->return_slot ? HI_UNWIND_ALONE : HI_UNWIND_LINK;
	row.cfa = (int16_t)frame->cfa;
	row.bp_slot = (int8_t)frame->return_slot;
	return row;
}

struct hi_unwind_row unwind_row_of_frame(const struct unwind_frame *frame)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	const bool is_usual =
		frame->return_slot && frame->return_slot == HI_ARCH_RETURN_SLOT(frame->bp_slot);

	if (frame->cfa < INT16_MIN || frame->cfa > INT16_MAX)
		return none;
	if (HI_ARCH_LINK_REGISTER && (!frame->bp_slot || !is_usual))
		return row_of_return(frame);
	if (!is_usual)
		return none;
	if (frame->bp_slot < INT8_MIN)
		return HI_ARCH_LINK_REGISTER ? row_near_base(frame->is_by_bp ? HI_UNWIND_BP_RECORD
									     : HI_UNWIND_SP_RECORD,
							     frame, frame->bp_slot)
					     : none;
	return (struct hi_unwind_row){
		.kind = frame->is_by_bp ? HI_UNWIND_BP : HI_UNWIND_SP,
		.cfa = (int16_t)frame->cfa,
		.bp_slot = (int8_t)frame->bp_slot,
	};
}

static struct hi_unwind_row row_from_expression(const struct cfi_rules *rules)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	const int boundary =
		arch_plt_boundary(rules->cfa_expression.at, dwarf_left(&rules->cfa_expression));
	struct spilled spilled;
	int64_t offset;
	int words;

	if (boundary >= 0 && rules->bp.where == CFI_SAME)
		return (struct hi_unwind_row){.kind = HI_UNWIND_PLT, .cfa = (int16_t)boundary};
	if (is_bp_deref(rules->cfa_expression, &offset) && rules->bp.where == CFI_AT_BP &&
	    to_words(offset, INT16_MIN, INT16_MAX, &words))
		return (struct hi_unwind_row){.kind = HI_UNWIND_BP_DEREF, .cfa = (int16_t)words};
	if (is_spilled(rules->cfa_expression, &spilled) && bp_in_words(rules, &words))
		return row_from_spilled(&spilled, words);
	return none;
}

struct hi_unwind_row unwind_row(const struct cfi_rules *rules, bool is_signal)
{
	struct hi_unwind_row row = {.kind = HI_UNWIND_NONE};
	struct unwind_frame frame;
	int bp_slot;

	if (!rules)
		return row;
	if (is_signal)
		return (struct hi_unwind_row){.kind = HI_UNWIND_SIGNAL};
	if (rules->pc.where == CFI_UNDEFINED)
		return (struct hi_unwind_row){.kind = HI_UNWIND_END};
	if (rules->cfa_is_expression)
		return is_return_address_known(rules) ? row_from_expression(rules) : row;
	if (rules->cfa_register != ARCH_DWARF_SP && rules->cfa_register != ARCH_DWARF_BP)
		return is_return_address_known(rules) && bp_in_words(rules, &bp_slot)
			       ? row_from_register(rules, bp_slot)
			       : row;
	frame.is_by_bp = rules->cfa_register == ARCH_DWARF_BP;
	if (to_words(rules->cfa_offset, INT16_MIN, INT16_MAX, &frame.cfa) &&
	    saved_in_words(&rules->bp, &frame.bp_slot) &&
	    saved_in_words(&rules->pc, &frame.return_slot))
		row = unwind_row_of_frame(&frame);
	return row;
}
