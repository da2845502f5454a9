/* SPDX-License-Identifier: MIT */
/*
 * doubts_test.c - what is a copy that cannot be fixed up, and what is none, at every place of a run
 * of bytes.
 */
#include "doubts.h"

#include "doubted_gate.h"

/* What is found where `word` stands at `place`, in the midst of something else. */
static struct doubts found_of(const struct doubts_gate *of, uint64_t word, size_t place,
			      uint64_t at, bool is_code)
{
	struct doubts doubts = {0};
	uint8_t bytes[BYTES];
	memset(bytes, 0x5a, sizeof(bytes));
	memcpy(bytes + place, &word, sizeof(word));
	doubts_find(&doubts, of, bytes, sizeof(bytes), at, is_code);
	return doubts;
}

static struct doubts found(uint64_t word, size_t place, uint64_t at, bool is_code)
{
	return found_of(&gate, word, place, at, is_code);
}

static size_t sum(const struct doubts *doubts)
{
	size_t all = 0;
	for (size_t i = 0; i < DOUBTS; i++)
		all += doubts->count[i];
	return all;
}

UNIT_TEST(a_copy_that_is_not_aligned_is_seen_at_every_place)
{
	for (size_t place = 0; place + 8 <= BYTES; place++) {
		struct doubts doubts = found(entry((unsigned)place % ENTRIES), place, AT, false);
		CHECK_EQ(sum(&doubts), place % 8 != 0); /* an aligned one is fixed_up */
		CHECK_EQ(doubts.count[DOUBT_UNALIGNED], place % 8 != 0);
		doubts = found(entry(1), place, AT + 3, false); /* it is the address that counts */
		CHECK_EQ(doubts.count[DOUBT_UNALIGNED], (place + 3) % 8 != 0);
	}
}

UNIT_TEST(a_copy_with_marks_is_seen)
{
	for (uint64_t mark = 1; mark < 8; mark++)
		check_only(found(entry(2) | mark, 16, AT, false), DOUBT_TAGGED);
	for (unsigned bit = 48; bit < 64; bit++)
		check_only(found(entry(29) | 1ull << bit, 24, AT, false), DOUBT_TAGGED);
	check_only(found(entry(29) | 0xfffeull << 48 | 7, 40, AT, false), DOUBT_TAGGED);
	check_only(found(entry(3) | 1, 41, AT, false), DOUBT_UNALIGNED);
	check_only(found(entry(3) | 1, 40, AT, true), DOUBT_CODE);
}

/* A program may ask for addresses above those that it is given, and have the gate there. */
UNIT_TEST(marks_are_above_the_addresses_of_the_gate)
{
	for (unsigned high = 48; high < 56; high++) {
		const struct doubts_gate far = {.gate = 1ull << high | gate.gate, .count = ENTRIES};
		const uint64_t copy = far.gate + HI_GATE_STRIDE, elsewhere = copy ^ 1ull << 48;

		for (unsigned bit = 56; bit < 64; bit++)
			check_only(found_of(&far, copy | 1ull << bit, 24, AT, false), DOUBT_TAGGED);
		check_only(found_of(&far, copy | 1, 24, AT, false), DOUBT_TAGGED);
		check_only(found_of(&far, copy, 25, AT, false), DOUBT_UNALIGNED);
		const struct doubts none = found_of(&far, elsewhere | 1, 24, AT, false);

		CHECK(!doubts_any(&none));
	}
}

UNIT_TEST(what_leads_to_no_entry_is_none)
{
	static const uint64_t words[] = {GATE + 0x1800 - HI_GATE_STRIDE,
					 GATE + 0x1800 + (uint64_t)ENTRIES * HI_GATE_STRIDE,
					 GATE + 0x1800 + 8,
					 GATE + 0x1800 + 64,
					 1ull << 47,
					 0};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (size_t place = 0; place < 24; place++) {
			const struct doubts doubts = found(words[i], place, AT, false);
			CHECK(!doubts_any(&doubts));
		}
	const struct doubts ours = found(entry(1) | 1, 8, GATE + 0x2000, false);
	CHECK(!doubts_any(&ours));
}

UNIT_TEST(each_doubt_has_its_words)
{
	const char *last = "";
	for (size_t i = 0; i < DOUBTS; i++) {
		struct doubts doubts = {0};
		CHECK(!doubts_any(&doubts));
		doubts.count[i] = 1;
		CHECK(doubts_any(&doubts));
		CHECK(strcmp(doubts_text(&doubts), last) != 0);
		last = doubts_text(&doubts);
	}
}

UNIT_MAIN()
