/* SPDX-License-Identifier: MIT */
/* code_doubts_test.c - aarch64: which code that the program made leads to the gate. */
#include "doubts.h"

#include "doubted_gate.h"

/* What is found in these instructions, at `at` + 4 * place, amid nops. */
static size_t found(const uint32_t *word, size_t count, size_t place, uint64_t at)
{
	struct doubts doubts = {0};
	uint32_t code[BYTES / 4];
	size_t all = 0;

	for (size_t i = 0; i < BYTES / 4; i++)
		code[i] = i - place < count ? word[i - place] : 0xd503201f;
	doubts_find(&doubts, &gate, (const uint8_t *)code, sizeof(code), at, true);
	for (size_t i = 0; i < DOUBTS; i++)
		all += doubts.count[i];
	CHECK_EQ(all, doubts.count[DOUBT_CODE]);
	return all;
}

static uint32_t b(uint32_t opcode, uint64_t from, uint64_t to)
{
	return opcode | ((uint32_t)((to - from) >> 2) & 0x3ffffff);
}

static uint32_t adr(uint32_t opcode, uint64_t distance, unsigned number)
{
	return opcode | ((uint32_t)distance & 3) << 29 |
	       ((uint32_t)(distance >> 2) & 0x7ffff) << 5 | number;
}

UNIT_TEST(branches_to_an_entry_are_seen_at_every_place)
{
	for (size_t place = 0; place < BYTES / 4; place++) {
		const uint64_t before = AT + 4 * place,
			       behind = AT + (1ull << 27) - BYTES + 4 * place,
			       to = entry((unsigned)place % ENTRIES);

		CHECK_EQ(found(&(uint32_t){b(0x94000000, before, to)}, 1, place, AT), 1);
		CHECK_EQ(found(&(uint32_t){b(0x14000000, behind, to)}, 1, place,
			       AT + (1ull << 27) - BYTES),
			 1);
		CHECK_EQ(found(&(uint32_t){b(0x94000000, before, to + 8)}, 1, place, AT), 0);
		CHECK_EQ(found(&(uint32_t){b(0x94000000, before, entry(ENTRIES))}, 1, place, AT),
			 0);
	}
}

UNIT_TEST(addresses_relative_to_pc_are_seen)
{
	const uint64_t near = GATE - 0x10000;

	for (unsigned i = 0; i < ENTRIES; i++) {
		const uint64_t to = entry(i), pages = (to >> 12) - (AT >> 12);
		const uint32_t adrp = adr(0x90000000, pages, 3),
			       add = 0x91000063 | (uint32_t)(to & 0xfff) << 10;

		CHECK_EQ(found(&(uint32_t){adr(0x10000000, to - near - 8, 9)}, 1, 2, near), 1);
		CHECK_EQ(found((uint32_t[]){adrp, add}, 2, 5, AT), 1);
		CHECK_EQ(found((uint32_t[]){adrp, 0xd503201f, add}, 3, 5, AT), 1);
		CHECK_EQ(found((uint32_t[]){adrp, add + (4 << 10)}, 2, 5, AT), 0);
		CHECK_EQ(found(&adrp, 1, BYTES / 4 - 1, AT), 1); /* what follows was not read */
	}
}

static uint32_t mov(uint32_t opcode, uint64_t address, unsigned place, unsigned number)
{
	return opcode | place << 21 | (uint32_t)(address >> 16 * place & 0xffff) << 5 | number;
}

UNIT_TEST(addresses_made_of_constants_are_seen)
{
	const uint32_t movz = 0xd2800000, movk = 0xf2800000;

	for (unsigned i = 0; i < ENTRIES; i++) {
		const uint64_t to = entry(i);

		for (size_t place = 0; place + 3 <= BYTES / 4; place++)
			CHECK_EQ(found((uint32_t[]){mov(movz, to, 0, 7), mov(movk, to, 1, 7),
						    mov(movk, to, 2, 7)},
				       3, place, AT),
				 1);
		CHECK_EQ(found((uint32_t[]){mov(movz, to, 2, 16), mov(movk, to, 1, 16),
					    mov(movk, to, 0, 16)},
			       3, 1, AT),
			 1);
	}
	CHECK_EQ(found((uint32_t[]){mov(movz, AT, 0, 7), mov(movk, AT, 1, 7), mov(movk, AT, 2, 7)},
		       3, 1, AT),
		 0);
	/* of two registers */
	CHECK_EQ(
		found((uint32_t[]){mov(movk, entry(0), 1, 7), mov(movk, entry(0), 2, 8)}, 2, 1, AT),
		0);
}

UNIT_MAIN()
