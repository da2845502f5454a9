/* SPDX-License-Identifier: MIT */
/*
 * instruction.h - the format of an instruction: prefixes, opcode, operands as ModRM and SIB encode
 * them, immediate value. What it means is up to decode.c and operands.c; private to this directory.
 */
#ifndef HI_INSTRUCTION_H
#define HI_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AX = 0, BX = 3, SP = 4, BP = 5 }; /* as ModRM numbers them */

struct decoder {
	const uint8_t *at, *end;
	bool is_16, is_wide; /* operands: operand size prefix, REX.W */
	bool is_short_address, is_repeated, is_locked, has_rex, has_vex, failed;
	uint8_t reg_high, index_high, rm_high;
	uint8_t vex_reg; /* the register that only VEX has */
	uint8_t map, opcode;
	uint8_t mod, reg, rm;
	bool has_modrm, has_sib;
	bool is_pc_relative, has_base; /* the operand in memory */
	const uint8_t *displacement_at;
	uint8_t base, index, scale; /* of the index: 1, 2, 4 or 8 */
	int32_t displacement;
	int64_t immediate;
};

/* False: the opcode is not known, or there are not as many bytes. */
bool instruction_read(const uint8_t *code, size_t room, struct decoder *out_decoder);

/* Opcodes are in one bit each, the leftmost first. */
bool instruction_is_in(const uint16_t rows[16], uint8_t opcode);

#endif
