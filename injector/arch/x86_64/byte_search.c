/* SPDX-License-Identifier: MIT */
/*
 * byte_search.c - searches all memory of a process, at every byte, for references to an address
 * that are not aligned pointers.
 *
 * As in pattern.c: it uses the compiler's vectors and works in blocks. It tests only whether a
 * block has any hit. The loop exists twice, once for CPUs with wider registers. Four loads, each
 * one byte further than the last, bring each group of four bytes into a lane. Enter at the
 * arch_find_ functions.
 */
#include "arch.h"

#include <string.h>

#define LANES 8
#define WIDTH sizeof(uint32_t)
#define BLOCK (LANES * WIDTH) /* places tested at once */
#define REACH (BLOCK + WIDTH) /* bytes that are read for one block */
#define OPERAND_REACH (1ull << 31)

typedef uint32_t vector __attribute__((vector_size(BLOCK), aligned(1), may_alias));
typedef uint64_t wide __attribute__((vector_size(BLOCK), aligned(1), may_alias));

static uint32_t load(const uint8_t *byte)
{
	uint32_t value;

	memcpy(&value, byte, sizeof(value));
	return value;
}

static inline __attribute__((always_inline)) bool is_any(const vector *hit)
{
	const wide all = *(const wide *)hit;

	return (all[0] | all[1] | all[2] | all[3]) != 0;
}

/* ---- four bytes ------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) size_t find_value(const uint8_t *byte, size_t from,
							       size_t size, uint32_t value)
{
	const vector zero = {0}, wanted = zero + value;

	for (; from + 2 * BLOCK + WIDTH <= size; from += 2 * BLOCK) {
		vector hit = zero;

#pragma GCC unroll 4
		for (size_t shift = 0; shift < WIDTH; shift++)
			hit |= (vector)((*(const vector *)(byte + from + shift) == wanted) |
					(*(const vector *)(byte + from + BLOCK + shift) == wanted));
		if (is_any(&hit))
			break;
	}
	return from;
}

static size_t find_value_anywhere(const uint8_t *byte, size_t from, size_t size, uint32_t value)
{
	return find_value(byte, from, size, value);
}

static __attribute__((target("avx2"))) size_t find_value_avx2(const uint8_t *byte, size_t from,
							      size_t size, uint32_t value)
{
	return find_value(byte, from, size, value);
}

size_t arch_find_bytes(const uint8_t *byte, size_t from, size_t size, uint32_t value)
{
	while (from + WIDTH <= size) {
		const size_t far = __builtin_cpu_supports("avx2")
					   ? find_value_avx2(byte, from, size, value)
					   : find_value_anywhere(byte, from, size, value);
		const size_t end =
			far + 2 * BLOCK + WIDTH <= size ? far + 2 * BLOCK : size - WIDTH + 1;

		for (from = far; from < end; from++)
			if (load(byte + from) == value)
				return from;
	}
	return size;
}

/* ---- relative operands ----------------------------------------------------------------------- */

/*
 * Is it the operand of call, jmp, a conditional jump, or lea? Four bytes of code that are no
 * operand seldom look like one; together with the opcode before them, hardly ever.
 */
static bool is_operand(const uint8_t *code, size_t at)
{
	const uint8_t before = at > 0 ? code[at - 1] : 0, opcode = at > 1 ? code[at - 2] : 0;

	return before == 0xe8 || before == 0xe9 || (opcode == 0x0f && (before & 0xf0) == 0x80) ||
	       (opcode == 0x8d && (before & 0xc7) == 0x05);
}

static inline __attribute__((always_inline)) size_t
find_near(const uint8_t *code, size_t from, size_t size, uint32_t ahead, uint32_t mask)
{
	const vector zero = {0}, step = {0, 4, 8, 12, 16, 20, 24, 28};

	for (; from + REACH <= size; from += BLOCK) {
		const vector place = zero + (uint32_t)from + ahead + step;
		vector hit = zero;

#pragma GCC unroll 4
		for (uint32_t shift = 0; shift < WIDTH; shift++)
			hit |= (vector)(((*(const vector *)(code + from + shift) + place + shift) &
					 mask) == zero);
		if (is_any(&hit))
			break;
	}
	return from;
}

static size_t find_near_anywhere(const uint8_t *code, size_t from, size_t size, uint32_t ahead,
				 uint32_t mask)
{
	return find_near(code, from, size, ahead, mask);
}

static __attribute__((target("avx2"))) size_t
find_near_avx2(const uint8_t *code, size_t from, size_t size, uint32_t ahead, uint32_t mask)
{
	return find_near(code, from, size, ahead, mask);
}

size_t arch_find_operand(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
			 uint64_t span)
{
	const uint64_t begin = at < lo ? at : lo,
		       end = at + size > lo + span ? at + size : lo + span;
	/* An operand is relative to the end of its instruction. */
	const uint32_t ahead = (uint32_t)(at + WIDTH - lo), mask = ~(uint32_t)(span - 1);

	if (end - begin > OPERAND_REACH)
		return size;
	while (from + WIDTH <= size) {
		const size_t far = __builtin_cpu_supports("avx2")
					   ? find_near_avx2(code, from, size, ahead, mask)
					   : find_near_anywhere(code, from, size, ahead, mask);
		const size_t stop = far + REACH <= size ? far + BLOCK : size - WIDTH + 1;

		for (from = far; from < stop; from++)
			if (!((load(code + from) + ahead + (uint32_t)from) & mask) &&
			    is_operand(code, from))
				return from;
	}
	return size;
}

uint64_t arch_operand_target(const uint8_t *code, size_t size, size_t found, uint64_t at)
{
	(void)size;
	return at + found + WIDTH + (uint64_t)(int64_t)(int32_t)load(code + found);
}

/* An instruction has room for an address. */
size_t arch_find_made(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
		      uint64_t span)
{
	(void)code, (void)from, (void)at, (void)lo, (void)span;
	return size;
}
