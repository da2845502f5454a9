/* SPDX-License-Identifier: MIT */
/*
 * decode.c - aarch64: where one instruction leads, and what it does to the frame of its function
 * (frame_effect.h).
 *
 * An entry of .plt is taken for one instruction, a jump through a word.
 */
#include "a64.h"
#include "arch.h"
#include "frame_effect.h"

#define PLT_BYTES 16
#define CHECKED_PLT_BYTES 20
#define AUTIA1716 0xd503219fu
#define BR_X17 0xd61f0220u

/*
 * adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17; with -z pac-plt there is
 * autia1716 before the jump.
 */
static uint64_t plt_slot(const uint8_t *code, size_t room, uint64_t pc, uint8_t *out_bytes)
{
	if (room < PLT_BYTES)
		return 0;
	const uint32_t page = a64_read(code), load = a64_read(code + 4), add = a64_read(code + 8);
	const uint8_t bytes = a64_read(code + 12) == AUTIA1716 ? CHECKED_PLT_BYTES : PLT_BYTES;

	if (!a64_is_adrp(page) || (page & 31) != 16 || !a64_is(load, 0xffc003ff, 0xf9400211) ||
	    !a64_is(add, 0xffc003ff, 0x91000210) || room < bytes ||
	    a64_read(code + bytes - A64_BYTES) != BR_X17)
		return 0;
	*out_bytes = bytes;
	return a64_target(page, pc) + (load >> 10 & 0xfff) * 8;
}

/* adrp and the add that mostly follows soon: both give the page alone until then. */
static uint64_t address_of(const uint8_t *code, size_t room, uint64_t pc)
{
	enum { ADD_WITHIN = 4 };
	const uint32_t word = a64_read(code), number = word & 31;
	const uint64_t target = a64_target(word, pc);

	for (size_t at = A64_BYTES;
	     a64_is_adrp(word) && at <= ADD_WITHIN * A64_BYTES && at + A64_BYTES <= room;
	     at += A64_BYTES) {
		const uint32_t add = a64_read(code + at);

		if (a64_is(add, 0xffc003e0, 0x91000000 | number << 5))
			return target + (add >> 10 & 0xfff);
	}
	return target;
}

static enum arch_flow flow_of(uint32_t word)
{
	static const enum arch_flow by_register[] = {ARCH_FLOW_JUMP, ARCH_FLOW_CALL,
						     ARCH_FLOW_RETURN, ARCH_FLOW_STOP};

	if (a64_is_b(word))
		return ARCH_FLOW_JUMP;
	if (a64_is_bl(word))
		return ARCH_FLOW_CALL;
	if (a64_is_conditional(word))
		return ARCH_FLOW_BRANCH;
	if (a64_is_by_register(word))
		return by_register[a64_by_register(word)];
	/* brk, udf */
	return a64_is(word, 0xffe0001f, A64_BRK) || word < 0x10000 ? ARCH_FLOW_STOP
								   : ARCH_FLOW_NEXT;
}

/* x0 becomes a constant or an address, or such a one is changed by a constant. */
static enum arch_result result_of_constant(uint32_t word)
{
	const bool is_add = a64_is(word, 0x1f800000, 0x11000000),
		   is_wide = a64_is(word, 0x1f800000, 0x12800000);
	const unsigned wide = word >> 29 & 3; /* movn, movz, movk */

	if (a64_is_adr(word) || a64_is_adrp(word) || (is_wide && wide != 3))
		return ARCH_RESULT_FIXED;
	return is_wide || (is_add && !(word >> 5 & 31)) ? ARCH_RESULT_KEPT : ARCH_RESULT_OTHER;
}

/* Stores of general registers, and all of vectors: they write at most the base. */
static bool is_access_without_result(uint32_t word)
{
	const bool is_pair = a64_is(word, 0x3a000000, 0x28000000),
		   is_one = a64_is(word, 0x3a000000, 0x38000000),
		   is_known = is_pair || word & 1u << 24 || !(word & 1u << 21) ||
			      (word >> 10 & 3) == 2,
		   is_load = is_pair ? word & 1u << 22 : word >> 22 & 3;

	return (is_pair || is_one) && is_known && (word & 1u << 26 || !is_load);
}

/* Conservative: what is not known here makes something else of x0. */
static enum arch_result result_of(uint32_t word)
{
	const bool writes_x0 = !(word & 31), has_base_x0 = !(word >> 5 & 31);
	const unsigned group = word >> 25 & 15;

	if ((group & 14) == 8)
		return writes_x0 ? result_of_constant(word) : ARCH_RESULT_KEPT;
	if ((group & 7) == 5) {
		if ((word & 0x7fffffff) == 0x2a1f03e0) /* mov of xzr */
			return ARCH_RESULT_FIXED;
		return writes_x0 ? ARCH_RESULT_OTHER : ARCH_RESULT_KEPT;
	}
	if (a64_is(word, 0x3a000000, 0x28000000) || a64_is(word, 0x3a000000, 0x38000000)) {
		const bool is_second = a64_is(word, 0x3a000000, 0x28000000) && !(word >> 10 & 31);

		return !has_base_x0 && (is_access_without_result(word) ||
					(!writes_x0 && !is_second && !(word & 1u << 26)))
			       ? ARCH_RESULT_KEPT
			       : ARCH_RESULT_OTHER;
	}
	return a64_is(word, 0xfffff01f, 0xd503201f) ? ARCH_RESULT_KEPT : ARCH_RESULT_OTHER;
}

bool arch_decode(const uint8_t *code, size_t room, uint64_t pc,
		 struct arch_instruction *out_instruction)
{
	struct arch_instruction out = {.size = A64_BYTES, .effect = ARCH_SP_MOVES};

	if (room < A64_BYTES || pc % A64_BYTES)
		return false;
	const uint32_t word = a64_read(code);

	out.flow = flow_of(word);
	out.slot = plt_slot(code, room, pc, &out.size);
	if (out.slot) {
		out.flow = ARCH_FLOW_JUMP;
	} else if (a64_is_adr(word) || a64_is_adrp(word)) {
		out.address = address_of(code, room, pc);
	} else if (out.flow != ARCH_FLOW_NEXT) {
		out.target = a64_target(word, pc);
	}
	if (out.flow == ARCH_FLOW_NEXT)
		frame_effect_of(word, &out);
	out.is_padding = word == A64_NOP;
	out.result = out.flow == ARCH_FLOW_CALL   ? ARCH_RESULT_OTHER
		     : out.flow != ARCH_FLOW_NEXT ? ARCH_RESULT_KEPT
						  : result_of(word);
	*out_instruction = out;
	return true;
}
