/* SPDX-License-Identifier: MIT */
/*
 * decode.c - decodes instructions: their length, where control continues, and what they do to the
 * stack pointer and the frame pointer.
 *
 * The opcode maps are those of the manual's appendix A for 64-bit mode. Instructions that compilers
 * do not generate (far calls, enter, 16-bit pushes, EVEX) are not known here. Enter at arch_decode.
 */
#include <string.h>

#include "arch.h"

enum { AX = 0, SP = 4, BP = 5 }; /* as ModRM numbers them */

struct decoder {
	const uint8_t *at, *end;
	bool is_16, is_wide; /* operands: operand size prefix, REX.W */
	bool is_short_address, has_vex, failed;
	uint8_t reg_high, index_high, rm_high;
	uint8_t map, opcode;
	uint8_t mod, reg, rm;
	bool is_pc_relative, has_sib;
	const uint8_t *displacement_at;
	uint8_t base, index;
	int32_t displacement;
};

static uint8_t next(struct decoder *decoder)
{
	if (decoder->at == decoder->end) {
		decoder->failed = true;
		return 0;
	}
	return *decoder->at++;
}

static int64_t number(struct decoder *decoder, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)next(decoder) << 8 * i;
	return size == 1   ? (int8_t)value
	       : size == 2 ? (int16_t)value
	       : size == 4 ? (int32_t)value
			   : (int64_t)value;
}

static void read_vex(struct decoder *decoder, uint8_t first)
{
	const uint8_t second = next(decoder);

	decoder->has_vex = true;
	decoder->reg_high = second & 0x80 ? 0 : 8;
	decoder->map = 1;
	if (first == 0xc4) {
		decoder->index_high = second & 0x40 ? 0 : 8;
		decoder->rm_high = second & 0x20 ? 0 : 8;
		decoder->map = second & 0x1f;
		next(decoder);
	}
	decoder->opcode = next(decoder);
}

static void read_opcode(struct decoder *decoder)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
					   0x26, 0x64, 0x65, 0x67, 0xf0};
	uint8_t byte = next(decoder);

	while (memchr(prefixes, byte, sizeof(prefixes)) && !decoder->failed) {
		decoder->is_16 |= byte == 0x66;
		decoder->is_short_address |= byte == 0x67;
		byte = next(decoder);
	}
	if ((byte & 0xf0) == 0x40) {
		decoder->is_wide = byte & 8;
		decoder->is_16 &= !decoder->is_wide;
		decoder->reg_high = byte & 4 ? 8 : 0;
		decoder->index_high = byte & 2 ? 8 : 0;
		decoder->rm_high = byte & 1 ? 8 : 0;
		byte = next(decoder);
	}
	if (byte == 0xc4 || byte == 0xc5) {
		read_vex(decoder, byte);
		return;
	}
	if (byte == 0x0f) {
		byte = next(decoder);
		decoder->map = byte == 0x38 ? 2 : byte == 0x3a ? 3 : 1;
		if (decoder->map > 1)
			byte = next(decoder);
	}
	decoder->opcode = byte;
}

/* One bit for each opcode, the leftmost first. */
static bool is_in(const uint16_t rows[16], uint8_t opcode)
{
	return rows[opcode >> 4] >> (15 - (opcode & 15)) & 1;
}

static bool has_modrm(const struct decoder *decoder)
{
	static const uint16_t one[16] = {0xf0f0, 0xf0f0, 0xf0f0, 0xf0f0, 0, 0,
					 0x1050, 0,      0xdfff, 0,      0, 0,
					 0xc300, 0xf0ff, 0,      0x0303};
	static const uint16_t two[16] = {0xf005, 0xffff, 0xffff, 0x0000, 0xffff, 0xffff,
					 0xffff, 0xfeff, 0x0000, 0xffff, 0x1c1f, 0xffff,
					 0xff00, 0xffff, 0xffff, 0xffff};

	return decoder->map == 0   ? is_in(one, decoder->opcode)
	       : decoder->map == 1 ? is_in(two, decoder->opcode)
				   : true;
}

/* Prefixes are no opcodes, not even after REX, where programs have none. */
static bool is_known(const struct decoder *decoder)
{
	static const uint16_t bad[16] = {0x0303, 0x0303, 0x0303, 0x0303, 0xffff, 0,
					 0xef00, 0,      0x2000, 0x0020, 0,      0,
					 0x0cb2, 0x0e00, 0x0000, 0xf000};

	return decoder->map == 0 ? !is_in(bad, decoder->opcode) : decoder->map <= 3;
}

static void read_modrm(struct decoder *decoder)
{
	const uint8_t byte = next(decoder);

	decoder->mod = byte >> 6;
	decoder->reg = (byte >> 3 & 7) | decoder->reg_high;
	decoder->rm = byte & 7;
	decoder->base = decoder->rm | decoder->rm_high;
	if (decoder->mod == 3) {
		decoder->rm |= decoder->rm_high;
		return;
	}
	decoder->has_sib = decoder->rm == SP;
	decoder->is_pc_relative = decoder->mod == 0 && decoder->rm == BP;
	if (decoder->has_sib) {
		const uint8_t sib = next(decoder);

		decoder->base = (sib & 7) | decoder->rm_high;
		decoder->index = (sib >> 3 & 7) | decoder->index_high;
		if (decoder->mod == 0 && (sib & 7) == BP)
			number(decoder, 4);
	}
	decoder->displacement_at = decoder->at;
	if (decoder->mod == 1)
		decoder->displacement = (int32_t)number(decoder, 1);
	else if (decoder->mod == 2 || decoder->is_pc_relative)
		decoder->displacement = (int32_t)number(decoder, 4);
}

static unsigned immediate_size_of_one(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const unsigned full = decoder->is_16 ? 2 : 4;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? full : 0;
	if ((opcode & 0xf0) == 0x70 || opcode == 0x6a || opcode == 0x6b || opcode == 0x80 ||
	    opcode == 0x83 || opcode == 0xa8 || opcode == 0xc0 || opcode == 0xc1 ||
	    opcode == 0xc6 || opcode == 0xcd || opcode == 0xeb || (opcode & 0xf8) == 0xb0 ||
	    (opcode & 0xf8) == 0xe0)
		return 1;
	if (opcode == 0xe8 || opcode == 0xe9)
		return 4;
	if (opcode == 0x68 || opcode == 0x69 || opcode == 0x81 || opcode == 0xa9 || opcode == 0xc7)
		return full;
	if ((opcode & 0xf8) == 0xb8)
		return decoder->is_wide ? 8 : full;
	if ((opcode & 0xfc) == 0xa0)
		return decoder->is_short_address ? 4 : 8;
	if (opcode == 0xc2)
		return 2;
	if (opcode == 0xc8)
		return 3;
	return (opcode == 0xf6 || opcode == 0xf7) && (decoder->reg & 7) < 2
		       ? (opcode == 0xf6 ? 1 : full)
		       : 0;
}

static unsigned immediate_size(const struct decoder *decoder)
{
	static const uint8_t with_byte[] = {0x70, 0x71, 0x72, 0x73, 0xa4, 0xac,
					    0xba, 0xc2, 0xc4, 0xc5, 0xc6};

	if (decoder->map == 0)
		return immediate_size_of_one(decoder);
	if (decoder->map == 1)
		return (decoder->opcode & 0xf0) == 0x80                        ? 4
		       : memchr(with_byte, decoder->opcode, sizeof(with_byte)) ? 1
									       : 0;
	return decoder->map == 3;
}

/* ---- meaning --------------------------------------------------------------------------------- */

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
	struct decoder decoder = {.at = code, .end = code + room};
	struct arch_instruction out = {.flow = ARCH_FLOW_NEXT, .effect = ARCH_SP_MOVES};
	int64_t immediate;

	read_opcode(&decoder);
	if (decoder.failed || !is_known(&decoder))
		return false;
	if (has_modrm(&decoder))
		read_modrm(&decoder);
	immediate = number(&decoder, immediate_size(&decoder));
	out.size = (uint8_t)(decoder.at - code);
	if (decoder.failed || out.size > 15)
		return false;
	set_flow(&decoder, immediate, pc + out.size, &out);
	set_effect(&decoder, immediate, &out);
	if (is_odd(&decoder, &out))
		return false;
	if (decoder.map == 0 && decoder.opcode == 0x8d && decoder.is_pc_relative)
		out.address = pc + out.size + (uint64_t)(int64_t)decoder.displacement;
	if (decoder.is_pc_relative)
		out.pc_relative_at = (uint8_t)(decoder.displacement_at - code);
	out.is_padding = !decoder.has_vex &&
			 ((decoder.map == 0 && decoder.opcode == 0x90 && !decoder.rm_high) ||
			  (decoder.map == 1 && decoder.opcode == 0x1f));
	out.result = result_of(&decoder, &out);
	*out_instruction = out;
	return true;
}
