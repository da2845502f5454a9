/* SPDX-License-Identifier: MIT */
/*
 * moved.c - aarch64: see moved.h. Enter at moved_write.
 *
 * Most instructions do the same anywhere. What depends on its address is written anew:
 *
 *     b target               b target
 *     bl target              ldr x30, .+8; b target; the return address as data
 *     cbz xN, target         cbz xN, .+8; b back; b target, and so are cbnz, tbz and tbnz
 *     adr, adrp xN, target   ldr xN, .+8; b back; the address as data. Where there is less room:
 *                            adrp xN, page of target; add xN, xN, #rest; b back
 *     ldr xN, target         ldr xN, target; b back. If the target is more than 1 MB away:
 *                            adrp x16, page; add x16, x16, #rest; ldr xN, [x16]; b back
 *
 * Not moved, as the gate is executed in between: what depends on flags, which it changes (b.cond),
 * and jumps by a register that it uses (x9 to x17); neither is a part of what a caller passes. Nor
 * are calls through a register, system calls, breakpoints and what returns from exceptions, and
 * what depends on its own address as later versions of the architecture have it (FEAT_CMPBR,
 * FEAT_PAuth_LR). No function begins with one of these.
 */
#include "moved.h"

#include <string.h>

#include "a64.h"

#define LITERAL_8 0x58000040u /* ldr xN, .+8 */
#define ADD 0x91000000u       /* add x0, x0, #0 */
#define X16 16u
#define LINK 30u

struct writer {
	uint64_t at, back;
	uint8_t *out;
	size_t left;
	bool is_good;
};

static void put_bytes(struct writer *writer, const void *bytes, size_t size)
{
	writer->is_good &= size <= writer->left;
	if (!writer->is_good)
		return;
	memcpy(writer->out, bytes, size);
	writer->out += size;
	writer->left -= size;
	writer->at += size;
}

static void put(struct writer *writer, uint32_t word)
{
	put_bytes(writer, &word, sizeof(word));
}

static void put_data(struct writer *writer, uint64_t value)
{
	put_bytes(writer, &value, sizeof(value));
}

static void put_b(struct writer *writer, uint64_t to)
{
	const uint32_t word = a64_b(writer->at, to);

	writer->is_good &= word != 0;
	put(writer, word);
}

/* adr or adrp of register number `to`: the distance is of bytes, or of pages */
static bool put_adr(struct writer *writer, uint32_t opcode, uint32_t to, int64_t distance)
{
	const uint32_t field = (uint32_t)distance;

	if (distance < -(1 << 20) || distance >= 1 << 20)
		return false;
	put(writer, opcode | (field & 3) << 29 | (field >> 2 & 0x7ffff) << 5 | to);
	return true;
}

static void put_address(struct writer *writer, uint32_t to, uint64_t target)
{
	const int64_t pages = ((int64_t)target >> 12) - ((int64_t)writer->at >> 12);

	writer->is_good &= put_adr(writer, 0x90000000, to, pages);
	put(writer, ADD | (uint32_t)(target & 0xfff) << 10 | to << 5 | to);
}

static void move_address(struct writer *writer, uint32_t to, uint64_t target)
{
	if (writer->left < 2 * A64_BYTES + sizeof(target)) {
		put_address(writer, to, target);
		put_b(writer, writer->back);
		return;
	}
	put(writer, LITERAL_8 | to);
	put_b(writer, writer->back);
	put_data(writer, target);
}

static void move_call(struct writer *writer, uint64_t target)
{
	put(writer, LITERAL_8 | LINK);
	put_b(writer, target);
	put_data(writer, writer->back);
}

/* The distance is in 14 bits in tbz and tbnz, and in 19 in others. */
static void move_conditional(struct writer *writer, uint32_t word, uint64_t target)
{
	const bool is_bit = a64_is(word, 0x7e000000, 0x36000000);
	const uint32_t distance = (is_bit ? 0x3fffu : 0x7ffffu) << 5;

	put(writer, (word & ~distance) | 2u << 5);
	put_b(writer, writer->back);
	put_b(writer, target);
}

/* The same load or prefetch from [x16]; 0: there is none. */
static uint32_t from_x16(uint32_t word)
{
	static const uint32_t general[] = {0xb9400000, 0xf9400000, 0xb9800000, 0xf9800000},
			      vector[] = {0xbd400000, 0xfd400000, 0x3dc00000, 0};
	const uint32_t form = (word >> 26 & 1 ? vector : general)[word >> 30];

	return form ? form | X16 << 5 | (word & 31) : 0;
}

static void move_literal(struct writer *writer, uint32_t word, uint64_t target)
{
	const int64_t distance = (int64_t)(target - writer->at);
	const uint32_t far = from_x16(word);

	writer->is_good &= far != 0;
	if (distance >= -(1 << 20) && distance < 1 << 20) {
		put(writer, (word & ~(0x7ffffu << 5)) | ((uint32_t)(distance >> 2) & 0x7ffff) << 5);
	} else {
		put_address(writer, X16, target);
		put(writer, far);
	}
	put_b(writer, writer->back);
}

static bool is_of_gate(uint32_t number)
{
	return number >= 9 && number <= 17;
}

/* br, ret, and what checks a signed address first: none needs a way back. */
static void move_by_register(struct writer *writer, uint32_t word)
{
	const enum a64_by_register form = a64_by_register(word);

	writer->is_good &= (form == A64_BR || form == A64_RETURN) && !is_of_gate(word >> 5 & 31) &&
			   !(word >> 11 & 1 && is_of_gate(word & 31));
	put(writer, word);
}

/* Exceptions and their returns; cb and retaasppc; autiasppc; pacm; paciasppc and the like. */
static bool is_immovable(uint32_t word)
{
	return a64_is(word, 0xff000000, 0xd4000000) || word < 0x10000 ||
	       a64_is(word, 0xff9ff000, 0xd69f0000) || a64_is(word, 0x7e000000, 0x74000000) ||
	       a64_is(word, 0xff000000, 0x55000000) || a64_is(word, 0xff800000, 0xf3800000) ||
	       word == 0xd50324ff || a64_is(word, 0xffffdbff, 0xdac183fe);
}

bool moved_write(uint32_t word, uint64_t pc, uint64_t at, struct moved_room room)
{
	const uint64_t target = a64_target(word, pc);
	struct writer writer = {.at = at,
				.back = pc + A64_BYTES,
				.out = room.out,
				.left = room.size,
				.is_good = !is_immovable(word)};

	if (a64_is_b(word)) {
		put_b(&writer, target);
	} else if (a64_is_bl(word)) {
		move_call(&writer, target);
	} else if (a64_is_conditional(word)) {
		writer.is_good &= !a64_is(word, 0xff000000, 0x54000000);
		move_conditional(&writer, word, target);
	} else if (a64_is_adr(word) || a64_is_adrp(word)) {
		move_address(&writer, word & 31, target);
	} else if (a64_is_literal(word)) {
		move_literal(&writer, word, target);
	} else if (a64_is_by_register(word)) {
		move_by_register(&writer, word);
	} else {
		put(&writer, word);
		put_b(&writer, writer.back);
	}
	return writer.is_good;
}
