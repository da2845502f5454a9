/* SPDX-License-Identifier: MIT */
/* code_doubts_test.c - x86-64: which code that the program made leads to the gate. */
#include "doubts.h"

#include "doubted_gate.h"

/* Four bytes at `place`, behind an opcode, in code at `at`, that count from their end to `to`. */
static struct doubts reference(const char *opcode, size_t length, size_t place, uint64_t at,
			       uint64_t to)
{
	struct doubts doubts = {0};
	uint8_t code[BYTES];
	const uint32_t distance = (uint32_t)(to - (at + place + length + 4));
	memset(code, 0x90, sizeof(code));
	memcpy(code + place, opcode, length);
	memcpy(code + place + length, &distance, sizeof(distance));
	doubts_find(&doubts, &gate, code, sizeof(code), at, true);
	return doubts;
}

UNIT_TEST(code_that_leads_to_an_entry_is_seen_at_every_place)
{
	for (size_t place = 0; place + 7 <= BYTES; place++) {
		/* call */
		check_only(reference("\xe8", 1, place, AT, entry((unsigned)place % ENTRIES)),
			   DOUBT_CODE);
		/* jmp, backwards */
		check_only(reference("\xe9", 1, place, AT + (1ull << 30),
				     entry((unsigned)place % ENTRIES)),
			   DOUBT_CODE);
		/* je */
		check_only(reference("\x0f\x84", 2, place, AT, entry(7)), DOUBT_CODE);
		/* lea, %rdi */
		check_only(reference("\x48\x8d\x3d", 3, place, AT, entry(8)), DOUBT_CODE);
	}
}

UNIT_TEST(code_that_leads_elsewhere_is_none)
{
	const struct doubts amid = reference("\xe8", 1, 9, AT, entry(3) + 5),
			    behind = reference("\xe8", 1, 9, AT, entry(ENTRIES)),
			    operand = reference("\x90\x90", 2, 9, AT, entry(3)),
			    far = reference("\xe8", 1, 9, AT + (1ull << 33), entry(3));
	CHECK(!doubts_any(&amid));
	CHECK(!doubts_any(&behind));
	CHECK(!doubts_any(&operand));
	CHECK(!doubts_any(&far));
}

UNIT_MAIN()
