/* SPDX-License-Identifier: MIT */
/*
 * decode_test.c - entries of a procedure linkage table, as ld writes them without and with -z
 * pac-plt and force-bti: each is one jump through a word, behind a landing pad if it has one.
 */
#include "a64.h"
#include "arch.h"
#include "unit.h"

#define PC 0x400510u
#define SLOT 0x41ffe8u /* page 0x41f000, word 0xfe8 */
#define BTI_C 0xd503245fu
#define ADRP_X16 0xf00000f0u
#define LDR_X17 0xf947f611u
#define ADD_X16 0x913fa210u
#define AUTIA1716 0xd503219fu
#define BR_X17 0xd61f0220u
#define NOP A64_NOP

struct entry {
	uint32_t word[6];
	size_t begin, bytes; /* of the jump */
};

static bool decode(const uint32_t *word, size_t room, struct arch_instruction *out)
{
	return arch_decode((const uint8_t *)word, room, PC, out);
}

UNIT_TEST(entries_of_a_plt_are_jumps_through_a_word)
{
	static const struct entry entry[] = {
		{{ADRP_X16, LDR_X17, ADD_X16, BR_X17, NOP, NOP}, 0, 16},
		{{BTI_C, ADRP_X16, LDR_X17, ADD_X16, BR_X17, NOP}, 1, 16},
		{{ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, BR_X17, NOP}, 0, 20},
		{{BTI_C, ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, BR_X17}, 1, 20},
	};
	struct arch_instruction instruction;

	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		if (entry[i].begin) {
			CHECK(decode(entry[i].word, ARCH_STUB_MAX, &instruction));
			CHECK_EQ(instruction.flow, ARCH_FLOW_NEXT);
			CHECK_EQ(instruction.size, A64_BYTES);
		}
		CHECK(entry[i].bytes <= ARCH_STUB_MAX);
		CHECK(decode(entry[i].word + entry[i].begin, entry[i].bytes, &instruction));
		CHECK_EQ(instruction.flow, ARCH_FLOW_JUMP);
		CHECK_EQ(instruction.slot, SLOT);
		CHECK_EQ(instruction.size, entry[i].bytes);
		/* cut off: not a jump that is known */
		CHECK(decode(entry[i].word + entry[i].begin, entry[i].bytes - A64_BYTES,
			     &instruction));
		CHECK_EQ(instruction.slot, 0);
		CHECK_EQ(instruction.size, A64_BYTES);
	}
}

UNIT_TEST(what_is_like_an_entry_of_a_plt_is_none)
{
	static const uint32_t other[][5] = {
		{ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, NOP},
		{ADRP_X16, LDR_X17, ADD_X16, NOP, BR_X17},
		{ADRP_X16, LDR_X17, AUTIA1716, BR_X17, NOP},
		{ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, BR_X17 & ~0x20u}, /* br x16 */
		{ADRP_X16 | 1, LDR_X17, ADD_X16, AUTIA1716, BR_X17},      /* adrp x17 */
	};
	struct arch_instruction instruction;

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		CHECK(decode(other[i], sizeof(other[i]), &instruction));
		CHECK_EQ(instruction.slot, 0);
		CHECK_EQ(instruction.size, A64_BYTES);
	}
}

UNIT_MAIN()
