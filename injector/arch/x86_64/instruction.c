/* SPDX-License-Identifier: MIT */
/*
 * instruction.c - see instruction.h.
 *
 * The opcode maps are those of the manual's appendix A for 64-bit mode. Instructions that compilers
 * do not generate (far calls, enter, 16-bit pushes, EVEX) are not known here. Enter at
 * instruction_read.
 */
#include "instruction.h"

#include <string.h>

#define INSTRUCTION_BYTES_MAX 15

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
	uint8_t last = second;

	decoder->has_vex = true;
	decoder->reg_high = second & 0x80 ? 0 : 8;
	decoder->map = 1;
	if (first == 0xc4) {
		decoder->index_high = second & 0x40 ? 0 : 8;
		decoder->rm_high = second & 0x20 ? 0 : 8;
		decoder->map = second & 0x1f;
		last = next(decoder);
	}
	decoder->vex_reg = ~last >> 3 & 15;
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
		decoder->is_repeated |= byte == 0xf3;
		decoder->is_locked |= byte == 0xf0;
		byte = next(decoder);
	}
	if ((byte & 0xf0) == 0x40) {
		decoder->has_rex = true;
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

bool instruction_is_in(const uint16_t rows[16], uint8_t opcode)
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

	return decoder->map == 0   ? instruction_is_in(one, decoder->opcode)
	       : decoder->map == 1 ? instruction_is_in(two, decoder->opcode)
				   : true;
}

/* Prefixes are no opcodes, not even after REX, where programs have none. */
static bool is_known(const struct decoder *decoder)
{
	static const uint16_t bad[16] = {0x0303, 0x0303, 0x0303, 0x0303, 0xffff, 0,
					 0xef00, 0,      0x2000, 0x0020, 0,      0,
					 0x0cb2, 0x0e00, 0x0000, 0xf000};

	return decoder->map == 0 ? !instruction_is_in(bad, decoder->opcode) : decoder->map <= 3;
}

static void read_modrm(struct decoder *decoder)
{
	const uint8_t byte = next(decoder);

	decoder->has_modrm = true;
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
	decoder->has_base = !decoder->is_pc_relative;
	if (decoder->has_sib) {
		const uint8_t sib = next(decoder);

		decoder->base = (sib & 7) | decoder->rm_high;
		decoder->scale = (uint8_t)(1u << (sib >> 6));
		decoder->index = (sib >> 3 & 7) | decoder->index_high;
		if (decoder->mod == 0 && (sib & 7) == BP) {
			decoder->has_base = false;
			number(decoder, 4);
		}
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

bool instruction_read(const uint8_t *code, size_t room, struct decoder *out_decoder)
{
	struct decoder decoder = {.at = code, .end = code + room};

	read_opcode(&decoder);
	if (decoder.failed || !is_known(&decoder))
		return false;
	if (has_modrm(&decoder))
		read_modrm(&decoder);
	decoder.immediate = number(&decoder, immediate_size(&decoder));
	if (decoder.failed || decoder.at - code > INSTRUCTION_BYTES_MAX)
		return false;
	*out_decoder = decoder;
	return true;
}
