/* SPDX-License-Identifier: MIT */
/*
 * cfi.c - call frame instructions.
 *
 * A table lists the operands and the effect of each instruction; decode reads it, apply executes
 * it. Enter at cfi_start, then call cfi_next until it returns false.
 */
#include "cfi.h"

#include <dwarf.h>

#include "hi_wire.h"

/* an instruction with one of these bits has its first operand in the other six */
#define PRIMARY_MASK 0xc0u
#define EXTENDED_COUNT 0x40u

enum effect {
	BAD, /* instructions that are not in the table */
	NOTHING,
	ADVANCE,
	GO_TO,
	CFA,
	CFA_REGISTER,
	CFA_OFFSET,
	CFA_EXPRESSION,
	SAVED_AT_CFA,
	SAVED_BY_EXPRESSION,
	SAVED_ELSEWHERE,
	SAVED_SAME,
	SAVED_UNDEFINED,
	SAVED_AS_INITIAL,
	REMEMBER,
	RECALL,
	SIGNING, /* the number is its enum arch_signing */
};

/* What follows an instruction, after its register if it has one. */
enum operand {
	NONE,
	BYTES_1,
	BYTES_2,
	BYTES_4,
	BYTES_8,
	ADDRESS,
	UNSIGNED,
	SIGNED,
	FACTORED, /* unsigned, times the data factor */
	SIGNED_FACTORED,
	NEGATED_FACTORED,
	BLOCK,
};

static const struct instruction {
	uint8_t effect, has_register, operand;
} instructions[EXTENDED_COUNT] = {
	[DW_CFA_nop] = {NOTHING, false, NONE},
	[DW_CFA_set_loc] = {GO_TO, false, ADDRESS},
	[DW_CFA_advance_loc1] = {ADVANCE, false, BYTES_1},
	[DW_CFA_advance_loc2] = {ADVANCE, false, BYTES_2},
	[DW_CFA_advance_loc4] = {ADVANCE, false, BYTES_4},
	[DW_CFA_MIPS_advance_loc8] = {ADVANCE, false, BYTES_8},
	[DW_CFA_def_cfa] = {CFA, true, UNSIGNED},
	[DW_CFA_def_cfa_sf] = {CFA, true, SIGNED_FACTORED},
	[DW_CFA_def_cfa_register] = {CFA_REGISTER, true, NONE},
	[DW_CFA_def_cfa_offset] = {CFA_OFFSET, false, UNSIGNED},
	[DW_CFA_def_cfa_offset_sf] = {CFA_OFFSET, false, SIGNED_FACTORED},
	[DW_CFA_def_cfa_expression] = {CFA_EXPRESSION, false, BLOCK},
	[DW_CFA_offset_extended] = {SAVED_AT_CFA, true, FACTORED},
	[DW_CFA_offset_extended_sf] = {SAVED_AT_CFA, true, SIGNED_FACTORED},
	[DW_CFA_GNU_negative_offset_extended] = {SAVED_AT_CFA, true, NEGATED_FACTORED},
	[DW_CFA_expression] = {SAVED_BY_EXPRESSION, true, BLOCK},
	[DW_CFA_val_offset] = {SAVED_ELSEWHERE, true, UNSIGNED},
	[DW_CFA_val_offset_sf] = {SAVED_ELSEWHERE, true, SIGNED},
	[DW_CFA_val_expression] = {SAVED_ELSEWHERE, true, BLOCK},
	[DW_CFA_register] = {SAVED_ELSEWHERE, true, UNSIGNED},
	[DW_CFA_same_value] = {SAVED_SAME, true, NONE},
	[DW_CFA_undefined] = {SAVED_UNDEFINED, true, NONE},
	[DW_CFA_restore_extended] = {SAVED_AS_INITIAL, true, NONE},
	[DW_CFA_remember_state] = {REMEMBER, false, NONE},
	[DW_CFA_restore_state] = {RECALL, false, NONE},
	[DW_CFA_GNU_args_size] = {NOTHING, false, UNSIGNED},
};

/* An instruction as read. */
struct decoded {
	enum effect effect;
	uint64_t reg;
	/* in two's complement, so that hostile numbers wrap instead of overflowing */
	uint64_t number;
	struct dwarf_cursor block;
};

static void decode_operand(struct cfi *cfi, enum operand operand, struct decoded *decoded)
{
	struct dwarf_cursor *program = &cfi->program;
	const uint64_t factor = (uint64_t)cfi->cie->data_factor;

	switch (operand) {
	case NONE:
		break;
	case BYTES_1:
	case BYTES_2:
	case BYTES_4:
	case BYTES_8:
		decoded->number = dwarf_unsigned(program, 1u << (operand - BYTES_1));
		break;
	case ADDRESS:
		decoded->number = eh_pointer(program, cfi->cie->pointer_encoding, cfi->section);
		break;
	case UNSIGNED:
		decoded->number = dwarf_uleb(program);
		break;
	case SIGNED:
		decoded->number = (uint64_t)dwarf_sleb(program);
		break;
	case FACTORED:
		decoded->number = dwarf_uleb(program) * factor;
		break;
	case SIGNED_FACTORED:
		decoded->number = (uint64_t)dwarf_sleb(program) * factor;
		break;
	case NEGATED_FACTORED:
		decoded->number = -(dwarf_uleb(program) * factor);
		break;
	case BLOCK:
		decoded->number = dwarf_uleb(program);
		decoded->block = *program;
		dwarf_skip(program, decoded->number);
		decoded->block.end = program->at;
		break;
	}
}

static void decode(struct cfi *cfi, struct decoded *decoded)
{
	const uint8_t opcode = dwarf_byte(&cfi->program);

	decoded->reg = decoded->number = opcode & ~PRIMARY_MASK;
	switch (opcode & PRIMARY_MASK) {
	case DW_CFA_advance_loc:
		decoded->effect = ADVANCE;
		break;
	case DW_CFA_offset:
		decoded->effect = SAVED_AT_CFA;
		decode_operand(cfi, FACTORED, decoded);
		break;
	case DW_CFA_restore:
		decoded->effect = SAVED_AS_INITIAL;
		break;
	default:
		decoded->effect = instructions[opcode].effect;
		if (decoded->effect == BAD && arch_signing(opcode)) {
			decoded->effect = SIGNING;
			decoded->number = arch_signing(opcode);
			break;
		}
		if (instructions[opcode].has_register)
			decoded->reg = dwarf_uleb(&cfi->program);
		decode_operand(cfi, instructions[opcode].operand, decoded);
	}
}

/*
 * Is the expression "the memory to which the frame pointer points"? Compilers use it for frames
 * that realign their stack.
 */
static bool is_at_bp(struct dwarf_cursor expression)
{
	return dwarf_byte(&expression) == DW_OP_breg0 + ARCH_DWARF_BP &&
	       dwarf_sleb(&expression) == 0 && !expression.failed && dwarf_left(&expression) == 0;
}

/* The rule for a register; NULL: none is tracked. */
static struct cfi_saved *saved_of(struct cfi_rules *rules, uint64_t reg)
{
	const int kept = arch_kept_index(reg);

	if (reg == ARCH_DWARF_BP)
		return &rules->bp;
	if (reg == ARCH_DWARF_PC)
		return &rules->pc;
	return kept < 0 ? NULL : &rules->kept[kept];
}

static void apply_saved(struct cfi *cfi, const struct decoded *decoded)
{
	struct cfi_saved *saved = saved_of(&cfi->rules, decoded->reg);

	if (!saved)
		return;
	switch (decoded->effect) {
	case SAVED_AT_CFA:
		*saved = (struct cfi_saved){CFI_AT_CFA, (int64_t)decoded->number};
		break;
	case SAVED_BY_EXPRESSION:
		saved->where = is_at_bp(decoded->block) ? CFI_AT_BP : CFI_ELSEWHERE;
		break;
	case SAVED_SAME:
		saved->where = CFI_SAME;
		break;
	case SAVED_UNDEFINED:
		saved->where = CFI_UNDEFINED;
		break;
	case SAVED_AS_INITIAL:
		*saved = *saved_of(&cfi->initial, decoded->reg);
		break;
	default:
		saved->where = CFI_ELSEWHERE;
	}
}

/* Executes all instructions except those for saved registers; false if that is impossible. */
static bool apply(struct cfi *cfi, const struct decoded *decoded)
{
	struct cfi_rules *rules = &cfi->rules;

	switch (decoded->effect) {
	case BAD:
		return false;
	case NOTHING:
		break;
	case ADVANCE:
		cfi->pc += decoded->number * cfi->cie->code_factor;
		break;
	case GO_TO:
		cfi->pc = decoded->number;
		break;
	case CFA:
	case CFA_REGISTER:
		rules->cfa_is_expression = false;
		rules->cfa_register = decoded->reg;
		if (decoded->effect == CFA)
			rules->cfa_offset = (int64_t)decoded->number;
		break;
	case CFA_OFFSET:
		rules->cfa_offset = (int64_t)decoded->number;
		break;
	case CFA_EXPRESSION:
		rules->cfa_is_expression = true;
		rules->cfa_expression = decoded->block;
		break;
	case REMEMBER:
		if (cfi->remembered_count == CFI_REMEMBER_MAX)
			return false;
		cfi->remembered[cfi->remembered_count++] = *rules;
		break;
	case RECALL:
		if (cfi->remembered_count == 0)
			return false;
		*rules = cfi->remembered[--cfi->remembered_count];
		break;
	case SIGNING:
		rules->is_signed ^= decoded->number == ARCH_SIGNING_BY_CFA;
		rules->may_be_signed_otherwise |= decoded->number == ARCH_SIGNING_OTHER;
		break;
	default:
		apply_saved(cfi, decoded);
	}
	return true;
}

/* Runs until pc moves or the program ends; false if the program is malformed. */
static bool run_row(struct cfi *cfi)
{
	const uint64_t pc = cfi->pc;

	while (dwarf_left(&cfi->program) && cfi->pc == pc) {
		struct decoded decoded;

		decode(cfi, &decoded);
		if (cfi->program.failed || !apply(cfi, &decoded))
			return false;
	}
	return cfi->pc >= pc;
}

bool cfi_initial(const struct eh_section *section, const struct eh_cie *cie,
		 struct cfi_rules *out_rules)
{
	struct cfi cfi = {.section = section, .cie = cie, .program = cie->program};

	/*
	 * DWARF does not define the rules before the first instruction. Where calls push the return
	 * address, the CIE says where it is; where they leave it in a register, that is the
	 * default.
	 */
	cfi.rules.pc.where = HI_ARCH_LINK_REGISTER ? CFI_SAME : CFI_ELSEWHERE;
	cfi.initial = cfi.rules;
	if (!run_row(&cfi) || dwarf_left(&cfi.program))
		return false;
	*out_rules = cfi.rules;
	return true;
}

void cfi_start(struct cfi *cfi, const struct eh_frame *frame, const struct eh_fde *fde,
	       const struct cfi_rules *initial)
{
	cfi->section = &frame->section;
	cfi->cie = &frame->cie[fde->cie];
	cfi->rules = cfi->initial = *initial;
	cfi->remembered_count = 0;
	cfi->program = fde->program;
	cfi->pc = fde->lo;
	cfi->is_done = false;
}

bool cfi_next(struct cfi *cfi, uint64_t *out_pc, const struct cfi_rules **out_rules)
{
	if (cfi->is_done)
		return false;
	*out_pc = cfi->pc;
	*out_rules = run_row(cfi) ? &cfi->rules : NULL;
	cfi->is_done = !*out_rules || dwarf_left(&cfi->program) == 0;
	return true;
}

bool cfi_find(const struct eh_frame *frame, const struct eh_fde *fde, uint64_t at,
	      struct cfi_rules *out_rules)
{
	const struct cfi_rules *rules;
	struct cfi_rules found;
	struct cfi cfi;
	uint64_t pc;

	if (!cfi_initial(&frame->section, &frame->cie[fde->cie], &found))
		return false;
	cfi_start(&cfi, frame, fde, &found);
	while (cfi_next(&cfi, &pc, &rules) && pc <= at) {
		if (!rules)
			return false;
		found = *rules;
	}
	*out_rules = found;
	return true;
}
