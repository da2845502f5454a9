/* SPDX-License-Identifier: MIT */
/*
 * frame_effect.c - aarch64: which instructions move sp, x29 and x30, and which store and load the
 * two relative to sp (Arm Architecture Reference Manual, C4.1). Any other that writes one of them
 * makes something unknown of it. Enter at frame_effect_of.
 */
#include "frame_effect.h"

#include "a64.h"

#define BP 29u
#define LINK 30u
#define SP 31u /* as a base, and where add, sub and logical instructions with a constant write */

static unsigned first_register(uint32_t word)
{
	return word & 31;
}

static unsigned base_register(uint32_t word)
{
	return word >> 5 & 31;
}

/* The instruction writes something else to a register. */
static void overwrite(struct arch_instruction *out, unsigned number)
{
	if (number == BP)
		out->effect = ARCH_SP_NOT_BP;
	else if (number == LINK)
		out->link_word.kind = ARCH_WORD_LOST;
}

static void move_sp(struct arch_instruction *out, int64_t bytes)
{
	out->effect = ARCH_SP_MOVES;
	out->sp_change = (int32_t)bytes;
}

/* add or sub of a constant */
static void add_constant(struct arch_instruction *out, uint32_t word)
{
	const unsigned to = first_register(word), from = base_register(word);
	const int64_t number = (int64_t)(word >> 10 & 0xfff) << (word & 1u << 22 ? 12 : 0),
		      bytes = word & 1u << 30 ? -number : number;

	if (word & 1u << 29 && to == SP)
		return; /* a comparison */
	if (to == SP && from == SP) {
		move_sp(out, bytes);
	} else if (to == SP && from == BP) {
		out->effect = ARCH_SP_FROM_BP;
		out->sp_change = (int32_t)bytes;
	} else if (to == SP) {
		out->effect = ARCH_SP_LOST;
	} else if (to == BP && from == SP) {
		out->effect = ARCH_SP_TO_BP;
		out->sp_change = (int32_t)bytes;
	} else {
		overwrite(out, to);
	}
}

static void transfer(struct arch_instruction *out, unsigned number, bool is_load, int64_t at)
{
	const struct arch_word_of word = {.kind = is_load ? ARCH_WORD_LOADED : ARCH_WORD_STORED,
					  .at = (int32_t)at};

	if (number == BP)
		out->bp_word = word;
	else if (number == LINK)
		out->link_word = word;
}

/* How an instruction that loads or stores finds its operand, and what it makes of the base. */
struct access {
	bool is_load, is_word; /* is_word: of general registers of 64 bits */
	bool moves_before, moves_after;
	int64_t offset;
};

static void access_memory(struct arch_instruction *out, uint32_t word, const struct access *access,
			  const unsigned *number, unsigned count)
{
	const unsigned base = base_register(word);
	const int64_t at = access->moves_after ? 0 : access->offset;

	for (unsigned i = 0; i < count; i++)
		if (base == SP && access->is_word)
			transfer(out, number[i], access->is_load, at + 8 * (int64_t)i);
		else if (access->is_load)
			overwrite(out, number[i]);
	if (!access->moves_before && !access->moves_after)
		return;
	if (base == SP)
		move_sp(out, access->offset);
	else
		overwrite(out, base);
}

/* ldp, stp, ldnp, stnp, ldpsw, of general and of vector registers */
static void access_pair(struct arch_instruction *out, uint32_t word)
{
	const bool is_vector = word & 1u << 26;
	const unsigned size = word >> 30, mode = word >> 23 & 3,
		       bytes = is_vector ? 4u << size : (size & 2 ? 8 : 4);
	const unsigned number[] = {first_register(word), word >> 10 & 31};
	const struct access access = {
		.is_load = word & 1u << 22,
		.is_word = !is_vector && size == 2,
		.moves_before = mode == 3,
		.moves_after = mode == 1,
		.offset = a64_signed(word, 15, 7) * bytes,
	};

	access_memory(out, word, &access, number, is_vector ? 0 : 2);
}

/* ldr, str and their relatives; also atomic ones, and those with a register as offset */
static void access_one(struct arch_instruction *out, uint32_t word)
{
	const bool is_vector = word & 1u << 26, is_scaled = word & 1u << 24;
	const unsigned size = word >> 30, kind = word >> 22 & 3, mode = word >> 10 & 3;
	const bool is_indexed = !is_scaled && !(word & 1u << 21) && (mode & 1);
	const bool is_known = is_scaled || !(word & 1u << 21);
	const unsigned number[] = {first_register(word)};
	const struct access access = {
		/* prfm has the place of a load of 64 bits with its sign */
		.is_load = kind != 0 && !(size == 3 && kind == 2),
		.is_word = size == 3 && kind <= 1 && is_known,
		.moves_before = is_indexed && mode == 3,
		.moves_after = is_indexed && mode == 1,
		.offset =
			is_scaled ? (int64_t)(word >> 10 & 0xfff) << size : a64_signed(word, 12, 9),
	};

	access_memory(out, word, &access, number, is_vector ? 0 : 1);
	if (!is_vector && !is_known)
		overwrite(out, first_register(word));
}

/* movz of 0, or mov of xzr */
static bool is_zeroing_bp(uint32_t word)
{
	return word == 0xd280001d || word == 0xaa1f03fd;
}

static void process_constant(struct arch_instruction *out, uint32_t word)
{
	if (a64_is(word, 0x1f800000, 0x11000000))
		add_constant(out, word);
	else if (is_zeroing_bp(word))
		out->effect = ARCH_SP_ENDS;
	/* and, orr, eor: they write sp; ands does not */
	else if (a64_is(word, 0x1f800000, 0x12000000) && first_register(word) == SP &&
		 (word >> 29 & 3) != 3)
		out->effect = ARCH_SP_LOST;
	else
		overwrite(out, first_register(word));
}

static void process_registers(struct arch_instruction *out, uint32_t word)
{
	if (is_zeroing_bp(word))
		out->effect = ARCH_SP_ENDS;
	/* add and sub of an extended register */
	else if (a64_is(word, 0x1fe00000, 0x0b200000) && first_register(word) == SP &&
		 !(word & 1u << 29))
		out->effect = ARCH_SP_LOST;
	/* pacia and its relatives: the address stays what it is without its signature */
	else if (!a64_is(word, 0xffffc000, 0xdac10000) || first_register(word) != LINK)
		overwrite(out, first_register(word));
}

/* Those of vectors that write a general register: fcvt, fmov, umov, smov. */
static bool is_from_vector(uint32_t word)
{
	const unsigned operation = word >> 16 & 7;

	return (a64_is(word, 0x7f20fc00, 0x1e200000) && operation != 2 && operation != 3 &&
		operation != 7) ||
	       a64_is(word, 0xbfe0fc00, 0x0e003c00) || a64_is(word, 0xbfe0fc00, 0x0e002c00);
}

void frame_effect_of(uint32_t word, struct arch_instruction *out)
{
	out->effect = ARCH_SP_MOVES;
	switch (word >> 25 & 15) {
	case 8:
	case 9:
		process_constant(out, word);
		break;
	case 5:
	case 13:
		process_registers(out, word);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		if (a64_is(word, 0x3a000000, 0x28000000))
			access_pair(out, word);
		else if (a64_is(word, 0x3a000000, 0x38000000))
			access_one(out, word);
		else if (!(word & 1u << 26)) /* exclusive ones, and literals */
			overwrite(out, first_register(word));
		break;
	case 7:
	case 15:
		if (is_from_vector(word))
			overwrite(out, first_register(word));
		break;
	case 2: /* addvl, addpl, of SVE */
		if (a64_is(word, 0xffa0f800, 0x04205000) && first_register(word) == SP)
			out->effect = ARCH_SP_LOST;
		break;
	case 10:
	case 11: /* mrs */
		if (a64_is(word, 0xfff00000, 0xd5300000))
			overwrite(out, first_register(word));
		break;
	default:
		break;
	}
}
