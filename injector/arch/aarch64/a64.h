/* SPDX-License-Identifier: MIT */
/*
 * a64.h - instructions of aarch64, each a word of 4 bytes (Arm Architecture Reference Manual,
 * C4.1): the forms that the files here look for, and the distances in them.
 */
#ifndef HI_A64_H
#define HI_A64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define A64_BYTES 4u
#define A64_NOP 0xd503201fu
#define A64_SVC 0xd4000001u
#define A64_RET 0xd65f03c0u /* by x30 */
#define A64_BRK 0xd4200000u
#define A64_MOV_X8 0xd2800008u /* movz x8, #number << 5 */
#define A64_B_REACH (1ll << 27)

static inline uint32_t a64_read(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

static inline bool a64_is(uint32_t word, uint32_t mask, uint32_t value)
{
	return (word & mask) == value;
}

/* The signed field of `bits` bits that begins at bit `at`. */
static inline int64_t a64_signed(uint32_t word, unsigned at, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - at - bits)) >> (64 - bits);
}

static inline bool a64_is_b(uint32_t word)
{
	return a64_is(word, 0xfc000000, 0x14000000);
}

static inline bool a64_is_bl(uint32_t word)
{
	return a64_is(word, 0xfc000000, 0x94000000);
}

/* A landing pad, which other CPUs take for a nop. */
static inline bool a64_is_bti(uint32_t word)
{
	return a64_is(word, 0xffffff3f, 0xd503241f);
}

/* b.cond, cbz, cbnz, tbz, tbnz */
static inline bool a64_is_conditional(uint32_t word)
{
	return a64_is(word, 0xff000000, 0x54000000) || a64_is(word, 0x7e000000, 0x34000000) ||
	       a64_is(word, 0x7e000000, 0x36000000);
}

/* br, blr, ret, also those that check a signed address: bits 22 to 21 say which of the three. */
static inline bool a64_is_by_register(uint32_t word)
{
	return a64_is(word, 0xfe9ff000, 0xd61f0000);
}

enum a64_by_register { A64_BR = 0, A64_BLR = 1, A64_RETURN = 2 };

static inline enum a64_by_register a64_by_register(uint32_t word)
{
	return (enum a64_by_register)(word >> 21 & 3);
}

static inline bool a64_is_adr(uint32_t word)
{
	return a64_is(word, 0x9f000000, 0x10000000);
}

static inline bool a64_is_adrp(uint32_t word)
{
	return a64_is(word, 0x9f000000, 0x90000000);
}

/* ldr, ldrsw, prfm, and ldr of a vector register, from an address that is relative to pc */
static inline bool a64_is_literal(uint32_t word)
{
	return a64_is(word, 0x3b000000, 0x18000000);
}

/*
 * Where the instruction at pc leads, or what it refers to; 0: it has no address in it that is
 * relative to pc.
 */
static inline uint64_t a64_target(uint32_t word, uint64_t pc)
{
	if (a64_is_b(word) || a64_is_bl(word))
		return pc + (uint64_t)(a64_signed(word, 0, 26) * 4);
	if (a64_is(word, 0x7e000000, 0x36000000))
		return pc + (uint64_t)(a64_signed(word, 5, 14) * 4);
	if (a64_is_conditional(word) || a64_is_literal(word))
		return pc + (uint64_t)(a64_signed(word, 5, 19) * 4);
	if (a64_is_adr(word))
		return pc + (uint64_t)(a64_signed(word, 5, 19) * 4 + (word >> 29 & 3));
	if (a64_is_adrp(word))
		return (pc & ~0xfffull) +
		       (uint64_t)((a64_signed(word, 5, 19) * 4 + (word >> 29 & 3)) * 4096);
	return 0;
}

/* b to `to`; 0: too far away */
static inline uint32_t a64_b(uint64_t from, uint64_t to)
{
	const int64_t distance = (int64_t)(to - from);

	return distance < -A64_B_REACH || distance >= A64_B_REACH || distance % 4
		       ? 0
		       : 0x14000000 | ((uint32_t)((uint64_t)distance >> 2) & 0x3ffffff);
}

#endif
