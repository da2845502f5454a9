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

/* What a wrapper does on its way to `return NULL`. */
UNIT_TEST(what_becomes_of_the_result)
{
	static const struct {
		uint32_t word;
		enum arch_result result;
	} all[] = {
		{0xd2800000, ARCH_RESULT_FIXED}, /* mov x0, #0 */
		{0x52800020, ARCH_RESULT_FIXED}, /* mov w0, #1 */
		{0x92800000, ARCH_RESULT_FIXED}, /* mov x0, #-1 */
		{0xaa1f03e0, ARCH_RESULT_FIXED}, /* mov x0, xzr */
		{0x2a1f03e0, ARCH_RESULT_FIXED}, /* mov w0, wzr */
		{0xf2a00020, ARCH_RESULT_KEPT},  /* movk x0, #1, lsl #16 */
		{0x90000000, ARCH_RESULT_FIXED}, /* adrp x0, . */
		{0x91004000, ARCH_RESULT_KEPT},  /* add x0, x0, #16 */
		{0x91004260, ARCH_RESULT_OTHER}, /* add x0, x19, #16 */
		{0xaa1303e0, ARCH_RESULT_OTHER}, /* mov x0, x19 */
		{0xaa0003f3, ARCH_RESULT_KEPT},  /* mov x19, x0 */
		{0xa8c27bfd, ARCH_RESULT_KEPT},  /* ldp x29, x30, [sp], #32 */
		{0xa9bf07e0, ARCH_RESULT_KEPT},  /* stp x0, x1, [sp, #-16]! */
		{0xa94007e0, ARCH_RESULT_OTHER}, /* ldp x0, x1, [sp] */
		{0xa94003e1, ARCH_RESULT_OTHER}, /* ldp x1, x0, [sp] */
		{0xf9400bf3, ARCH_RESULT_KEPT},  /* ldr x19, [sp, #16] */
		{0xf94003e0, ARCH_RESULT_OTHER}, /* ldr x0, [sp] */
		{0xf8408401, ARCH_RESULT_OTHER}, /* ldr x1, [x0], #8 */
		{0xf9000260, ARCH_RESULT_KEPT},  /* str x0, [x19] */
		{0xf8200261, ARCH_RESULT_KEPT},  /* ldadd x0, x1, [x19] */
		{0xf8210260, ARCH_RESULT_OTHER}, /* ldadd x1, x0, [x19] */
		{0xc85f7e60, ARCH_RESULT_OTHER}, /* ldxr x0, [x19] */
		{0xd50323bf, ARCH_RESULT_KEPT},  /* autiasp */
		{0xd53bd040, ARCH_RESULT_OTHER}, /* mrs x0, tpidr_el0 */
		{0xd65f03c0, ARCH_RESULT_KEPT},  /* ret */
		{0x94000000, ARCH_RESULT_OTHER}, /* bl . */
	};
	struct arch_instruction instruction;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		printf("# %08x\n", all[i].word);
		CHECK(decode(&all[i].word, A64_BYTES, &instruction));
		CHECK_EQ(instruction.result, all[i].result);
	}
}

UNIT_MAIN()
