/* SPDX-License-Identifier: MIT */
/*
 * operands.c - which callee-saved registers an instruction uses, and where in memory its operand
 * is.
 *
 * An opcode that may use a register counts as one that does. Enter at arch_decode_operands.
 */
#include "arch.h"
#include "instruction.h"

/* Bits by x86 number: 1 << BX and so on. */
typedef uint16_t registers;

/* 0x0f: where ModRM's reg, and its rm if that is no memory, is a general register. */
static const uint16_t reg_is_general[16] = {0x3000, 0, 0x000c, 0,      0xffff, 0x8000, 0, 0,
					    0,      0, 0x1c1d, 0xd39f, 0xd400, 0x0100, 0, 0},
		      rm_is_general[16] = {0xb000, 0x0002, 0x0020, 0,      0xffff, 0,
					   0x0002, 0x0002, 0,      0xffff, 0x1c1f, 0xd3bf,
					   0xc900, 0,      0,      0};

/* Opcodes of one byte: those with a register in ModRM's reg. */
static bool has_reg_of_one(uint8_t opcode)
{
	return opcode < 0x40 || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       (opcode >= 0x84 && opcode <= 0x8b) || opcode == 0x8d;
}

static bool has_reg(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;

	switch (decoder->map) {
	case 0:
		return has_reg_of_one(opcode);
	case 1:
		return instruction_is_in(reg_is_general, opcode);
	case 2:
		return opcode >= 0xf0;
	default:
		return opcode >= 0xf0;
	}
}

static bool has_rm(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;

	switch (decoder->map) {
	case 0:
		return (opcode & 0xf8) != 0xd8; /* the floating-point stack */
	case 1:
		return instruction_is_in(rm_is_general, opcode) &&
		       !(opcode == 0x7e && decoder->is_repeated);
	case 2:
		return opcode >= 0xf0;
	default:
		return opcode >= 0xf0 || (opcode >= 0x14 && opcode <= 0x17) || opcode == 0x20 ||
		       opcode == 0x22;
	}
}

/* Is a register's number a part of the opcode? One of these is the nop. */
static bool is_in_opcode(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;

	if (decoder->has_vex || decoder->map > 1)
		return false;
	if (decoder->map == 1)
		return (opcode & 0xf8) == 0xc8;
	return (opcode & 0xf0) == 0x50 || (opcode & 0xf0) == 0xb0 ||
	       ((opcode & 0xf8) == 0x90 && (opcode != 0x90 || decoder->rm_high));
}

/* Of these the register in rm, and but for some that extend it that in reg, are of one byte. */
static bool is_of_bytes(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;

	if (decoder->map == 1)
		return (opcode & 0xf0) == 0x90 || opcode == 0xb0 || opcode == 0xb6 ||
		       opcode == 0xbe || opcode == 0xc0;
	if (decoder->map || is_in_opcode(decoder))
		return decoder->map == 0 && (opcode & 0xf8) == 0xb0;
	return !(opcode & 1) && opcode != 0x8c && opcode != 0x8e;
}

static bool is_extension(const struct decoder *decoder)
{
	return decoder->map == 1 && (decoder->opcode == 0xb6 || decoder->opcode == 0xbe);
}

/* Without REX the numbers 4 to 7 of bytes are ah to bh. */
static registers bit(const struct decoder *decoder, uint8_t number, bool is_byte)
{
	if (is_byte && !decoder->has_rex && number >= 4)
		number &= 3;
	return (registers)(1u << number);
}

/* xlat, leave; cpuid, cmpxchg16b */
static registers implied(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;

	if (decoder->map == 0)
		return opcode == 0xd7 ? 1u << BX : opcode == 0xc9 ? 1u << BP : 0;
	return decoder->map == 1 && (opcode == 0xa2 || opcode == 0xc7) ? 1u << BX : 0;
}

/* Of an index that is a vector the register of the same number counts. */
static registers of_address(const struct decoder *decoder)
{
	registers used = 0;

	if (!decoder->has_modrm || decoder->mod == 3)
		return 0;
	if (decoder->has_base)
		used |= (registers)(1u << decoder->base);
	if (decoder->has_sib && decoder->index != SP)
		used |= (registers)(1u << decoder->index);
	return used;
}

static registers of_operands(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_byte = is_of_bytes(decoder);
	registers used = implied(decoder);

	if (is_in_opcode(decoder))
		used |= bit(decoder, (opcode & 7) | decoder->rm_high, is_byte);
	if (!decoder->has_modrm)
		return used;
	if (has_reg(decoder))
		used |= bit(decoder, decoder->reg, is_byte && !is_extension(decoder));
	if (decoder->mod == 3 && has_rm(decoder))
		used |= bit(decoder, decoder->rm, is_byte);
	if (decoder->has_vex && decoder->map == 2 && opcode >= 0xf0)
		used |= (registers)(1u << decoder->vex_reg);
	return used;
}

/* The register that it only stores on the stack, or takes from there, and does nothing else with.
 */
static registers kept_on_stack(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_on_stack = decoder->has_modrm && decoder->mod != 3 && decoder->has_base &&
				 (decoder->base == SP || decoder->base == BP) &&
				 (!decoder->has_sib || decoder->index == SP);

	if (decoder->map || decoder->has_vex)
		return 0;
	if ((opcode & 0xf0) == 0x50)
		return (registers)(1u << ((opcode & 7) | decoder->rm_high));
	return is_on_stack && decoder->is_wide && (opcode == 0x89 || opcode == 0x8b)
		       ? (registers)(1u << decoder->reg)
		       : 0;
}

static uint64_t dwarf_of(uint8_t number)
{
	static const uint8_t dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5};

	return number < sizeof(dwarf) ? dwarf[number] : number;
}

/* Bits by arch_kept_index; ARCH_KEPT is the frame pointer. */
static uint8_t kept_of(registers used)
{
	uint8_t kept = 0;

	for (uint8_t number = 0; number < 16; number++) {
		const int index = arch_kept_index(dwarf_of(number));

		if (!(used >> number & 1))
			continue;
		if (number == BP)
			kept |= 1u << ARCH_KEPT;
		else if (index >= 0)
			kept |= (uint8_t)(1u << index);
	}
	return kept;
}

/* Compilers write a barrier as an indivisible change of the top of the stack by nothing. */
static bool is_barrier(const struct decoder *decoder)
{
	return decoder->is_locked && decoder->base == SP;
}

static enum arch_memory memory_of(const struct decoder *decoder)
{
	const bool is_address = decoder->map == 0 && decoder->opcode == 0x8d;
	const bool is_hint = decoder->map == 1 && !decoder->has_vex && decoder->opcode >= 0x18 &&
			     decoder->opcode <= 0x1f;

	if (!decoder->has_modrm || decoder->mod == 3 || is_hint || is_barrier(decoder) ||
	    (is_address && decoder->reg == SP))
		return ARCH_MEMORY_NONE;
	if (!decoder->has_base)
		return ARCH_MEMORY_FIXED;
	return is_address ? ARCH_MEMORY_ADDRESS : ARCH_MEMORY_ACCESS;
}

/* At most: of general registers, of the floating-point stack and SSE, of AVX. */
static uint8_t bytes_of(const struct decoder *decoder)
{
	if (decoder->has_vex)
		return 32;
	return decoder->map || (decoder->opcode & 0xf8) == 0xd8 ? 16 : 8;
}

/*
 * Elements are distances of 4 bytes, which are made longer, by movslq or cltq; or addresses, which
 * are loaded or jumped to.
 */
static bool loads_element(const struct decoder *decoder)
{
	const uint8_t opcode = decoder->opcode;
	const bool is_word = decoder->has_modrm && decoder->mod != 3 && decoder->has_sib &&
			     decoder->index != SP && decoder->scale == 8;

	if (decoder->map || decoder->has_vex)
		return false;
	return opcode == 0x63 || opcode == 0x98 || (is_word && (opcode == 0x8b || opcode == 0xff));
}

bool arch_decode_operands(const uint8_t *code, size_t room, struct arch_operands *out_operands)
{
	struct decoder decoder;

	if (!instruction_read(code, room, &decoder))
		return false;
	const registers on_stack = kept_on_stack(&decoder);

	*out_operands = (struct arch_operands){
		.kept_used = kept_of((of_operands(&decoder) & (registers)~on_stack) |
				     of_address(&decoder)),
		.kept_on_stack = kept_of(on_stack),
		.memory = memory_of(&decoder),
		.bytes = bytes_of(&decoder),
		.base = dwarf_of(decoder.base),
		.displacement = decoder.displacement,
		.loads_element = loads_element(&decoder),
		.is_indexed = decoder.has_sib && decoder.index != SP,
		.asks_for_vectors = decoder.map == 0 && decoder.opcode == 0x84 &&
				    decoder.mod == 3 && decoder.reg == AX && decoder.rm == AX,
	};
	return true;
}
