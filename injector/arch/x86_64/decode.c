/* SPDX-License-Identifier: MIT */
/*
 * decode.c - decodes instructions: their length, where control continues, and what they do to the
 * stack pointer and the frame pointer. Enter at arch_decode.
 */
#include "arch.h"
#include "instruction.h"

static void set_flow(const struct decoder *decoder, int64_t immediate, uint64_t next_pc,
		     struct arch_instruction *out)
{
	const uint8_t opcode = decoder->opcode;

	if (decoder->map == 1 && !decoder->has_vex) {
		if ((opcode & 0xf0) == 0x80)
			out->flow = ARCH_FLOW_BRANCH;
		else if (opcode == 0x0b)
			out->flow = ARCH_FLOW_STOP;
	} else if (decoder->map == 0) {
		if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 ||
		    (opcode == 0xc7 && decoder->mod == 3 && (decoder->reg & 7) == 7)) /* xbegin */
			out->flow = ARCH_FLOW_BRANCH;
		else if (opcode == 0xe8 || (opcode == 0xff && (decoder->reg & 7) == 2))
			out->flow = ARCH_FLOW_CALL;
		else if (opcode == 0xe9 || opcode == 0xeb ||
			 (opcode == 0xff && (decoder->reg & 7) == 4))
			out->flow = ARCH_FLOW_JUMP;
		else if (opcode == 0xc3 || opcode == 0xc2)
			out->flow = ARCH_FLOW_RETURN;
		else if (opcode == 0xf4 || opcode == 0xcc)
			out->flow = ARCH_FLOW_STOP;
	}
	if ((out->flow == ARCH_FLOW_BRANCH || out->flow == ARCH_FLOW_CALL ||
	     out->flow == ARCH_FLOW_JUMP) &&
	    opcode != 0xff)
		out->target = next_pc + (uint64_t)immediate;
}

static void set_push(const struct decoder *decoder, uint8_t reg, struct arch_instruction *out)
{
	out->sp_change = -8;
	out->effect = decoder->is_16 ? ARCH_SP_LOST : reg == BP ? ARCH_SP_PUSHES_BP : ARCH_SP_MOVES;
}

static void set_pop(const struct decoder *decoder, uint8_t reg, struct arch_instruction *out)
{
	out->sp_change = 8;
	out->effect = decoder->is_16 || reg == SP ? ARCH_SP_LOST
		      : reg == BP                 ? ARCH_SP_POPS_BP
						  : ARCH_SP_MOVES;
}

/*
 * The register that a plain move or arithmetic instruction writes, or -1. Byte operations are left
 * out: their registers 4 and 5 are ah and ch.
 */
static int written(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const int rm = decoder->mod == 3 ? decoder->rm : -1;

	if ((opcode & 0xf8) == 0xb8 || (opcode & 0xf8) == 0x90)
		return (opcode & 7) | decoder->rm_high;
	if (!(opcode & 1))
		return -1;
	if (opcode < 0x38 && (opcode & 7) < 4)
		return opcode & 2 ? decoder->reg : rm;
	if (opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || opcode == 0x8b || opcode == 0x8d)
		return decoder->reg;
	if (((opcode == 0x81 || opcode == 0x83) && (decoder->reg & 7) != 7) || opcode == 0x87 ||
	    opcode == 0x89 || opcode == 0xc7 || opcode == 0xc1 || opcode == 0xd1 || opcode == 0xd3)
		return rm;
	return (opcode == 0xff && (decoder->reg & 7) < 2) ||
			       (opcode == 0xf7 && (decoder->reg & 6) == 2)
		       ? rm
		       : -1;
}

static void set_move(const struct decoder *decoder, struct arch_instruction *out)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_move =
		decoder->is_wide && decoder->mod == 3 && (opcode == 0x89 || opcode == 0x8b);
	const uint8_t from = opcode == 0x89 ? decoder->reg : decoder->rm,
		      to = opcode == 0x89 ? decoder->rm : decoder->reg;

	if (is_move && from == SP && to == BP)
		out->effect = ARCH_SP_TO_BP;
	else if (is_move && from == BP && to == SP)
		out->effect = ARCH_SP_FROM_BP;
	else if (written(decoder) == SP)
		out->effect = ARCH_SP_LOST;
	else if ((opcode == 0x31 || opcode == 0x33) && decoder->mod == 3 && decoder->reg == BP &&
		 decoder->rm == BP)
		out->effect = ARCH_SP_ENDS;
	else if (written(decoder) == BP)
		out->effect = ARCH_SP_NOT_BP;
}

static void set_effect(const struct decoder *decoder, int64_t immediate,
		       struct arch_instruction *out)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_sp = decoder->is_wide && decoder->mod == 3 && decoder->rm == SP;

	/* The decoder does not distinguish which of these write a general register. */
	if ((decoder->map || decoder->has_vex) &&
	    (decoder->reg == BP || (decoder->mod == 3 && decoder->rm == BP)))
		out->effect = ARCH_SP_NOT_BP;
	if (decoder->map || decoder->has_vex)
		return;
	if ((opcode & 0xf8) == 0x50)
		set_push(decoder, (opcode & 7) | decoder->rm_high, out);
	else if ((opcode & 0xf8) == 0x58)
		set_pop(decoder, (opcode & 7) | decoder->rm_high, out);
	else if (opcode == 0x68 || opcode == 0x6a || opcode == 0x9c ||
		 (opcode == 0xff && (decoder->reg & 7) == 6))
		set_push(decoder, 0, out);
	else if (opcode == 0x9d || opcode == 0x8f)
		set_pop(decoder, opcode == 0x8f && decoder->mod == 3 ? decoder->rm : 0, out);
	else if ((opcode == 0x81 || opcode == 0x83) && is_sp &&
		 ((decoder->reg & 7) == 0 || (decoder->reg & 7) == 5))
		out->sp_change = (int32_t)((decoder->reg & 7) == 0 ? immediate : -immediate);
	else if (opcode == 0x8d && decoder->is_wide && decoder->reg == SP && decoder->has_sib &&
		 decoder->base == SP && decoder->index == SP && decoder->mod)
		out->sp_change = decoder->displacement;
	else if (opcode == 0x8d && decoder->is_wide && decoder->reg == SP && !decoder->has_sib &&
		 decoder->base == BP && decoder->mod) {
		out->effect = ARCH_SP_FROM_BP;
		out->sp_change = decoder->displacement;
	} else if (opcode == 0xc9)
		out->effect = ARCH_SP_LEAVE;
	else if (opcode == 0xc8)
		out->effect = ARCH_SP_LOST;
	else
		set_move(decoder, out);
}

static bool is_fixed_result(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_ax = decoder->mod == 3 && decoder->rm == AX;

	return ((opcode == 0x31 || opcode == 0x33) && is_ax && decoder->reg == AX) ||
	       (opcode == 0xb8 && !decoder->rm_high) || (opcode == 0xc7 && is_ax) ||
	       (opcode == 0x8d && decoder->reg == AX && decoder->is_pc_relative);
}

static enum arch_result result_of(const struct decoder *decoder, const struct arch_instruction *out)
{
	const uint8_t opcode = decoder->opcode;

	if (out->is_padding || out->flow == ARCH_FLOW_BRANCH || out->flow == ARCH_FLOW_JUMP ||
	    out->flow == ARCH_FLOW_RETURN)
		return ARCH_RESULT_KEPT;
	if (decoder->map || decoder->has_vex || decoder->is_16)
		return ARCH_RESULT_OTHER;
	if (is_fixed_result(decoder))
		return ARCH_RESULT_FIXED;
	const bool is_store = decoder->mod != 3 && (opcode == 0x89 || opcode == 0xc7),
		   is_compare = opcode == 0x39 || opcode == 0x3b || opcode == 0x85 ||
				((opcode == 0x81 || opcode == 0x83) && (decoder->reg & 7) == 7),
		   is_push = (opcode & 0xf8) == 0x50, is_leave = opcode == 0xc9,
		   is_pop = (opcode & 0xf8) == 0x58 && ((opcode & 7) | decoder->rm_high) != AX,
		   is_exchange = opcode == 0x87 || (opcode & 0xf8) == 0x90;

	return is_store || is_compare || is_push || is_pop || is_leave ||
			       (!is_exchange && written(decoder) > AX)
		       ? ARCH_RESULT_KEPT
		       : ARCH_RESULT_OTHER;
}

/*
 * Not known, because CPUs differ or programs have no use for it: a 16-bit distance of a branch, an
 * operand relative to half of pc.
 */
static bool is_odd(const struct decoder *decoder, const struct arch_instruction *instruction)
{
	return (instruction->target && decoder->is_16) ||
	       (decoder->is_pc_relative && decoder->is_short_address);
}

bool arch_decode(const uint8_t *code, size_t room, uint64_t pc,
		 struct arch_instruction *out_instruction)
{
	struct arch_instruction out = {.flow = ARCH_FLOW_NEXT, .effect = ARCH_SP_MOVES};
	struct decoder decoder;

	if (!instruction_read(code, room, &decoder))
		return false;
	out.size = (uint8_t)(decoder.at - code);
	set_flow(&decoder, decoder.immediate, pc + out.size, &out);
	set_effect(&decoder, decoder.immediate, &out);
	if (is_odd(&decoder, &out))
		return false;
	if (decoder.map == 0 && decoder.opcode == 0x8d && decoder.is_pc_relative)
		out.address = pc + out.size + (uint64_t)(int64_t)decoder.displacement;
	if (decoder.is_pc_relative)
		out.pc_relative_at = (uint8_t)(decoder.displacement_at - code);
	if (out.pc_relative_at && !out.target &&
	    (out.flow == ARCH_FLOW_JUMP || out.flow == ARCH_FLOW_CALL))
		out.slot = pc + out.size + (uint64_t)(int64_t)decoder.displacement;
	out.is_padding = !decoder.has_vex &&
			 ((decoder.map == 0 && decoder.opcode == 0x90 && !decoder.rm_high) ||
			  (decoder.map == 1 && decoder.opcode == 0x1f));
	out.result = result_of(&decoder, &out);
	*out_instruction = out;
	return true;
}
