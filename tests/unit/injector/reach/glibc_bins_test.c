/* SPDX-License-Identifier: MIT */
/* glibc_bins_test.c - lists of free chunks by hand. */
#include "glibc_bins.h"

#include <errno.h>

#include "unit.h"

#define BASE 0x200000u
#define WORDS 600u
#define BINS_AT 100u /* the word of the first list */
#define BINS 127u
#define TOP (BINS_AT - 2)

static uint64_t data[WORDS];

static int walk(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor)
{
	(void)context;
	for (uint64_t at = lo; at + 8 <= hi; at += 8)
		if (at >= BASE && at < BASE + sizeof(data))
			visit(visitor, at, &data[(at - BASE) / 8], 1);
	return 0;
}

static const struct mark_memory memory = {.walk = walk};

static uint64_t address_of(uint32_t word)
{
	return BASE + word * 8;
}

static void empty(uint32_t first, uint32_t count)
{
	memset(data, 0, sizeof(data));
	for (uint32_t i = first; i < first + count; i++)
		data[BINS_AT + 2 * i] = data[BINS_AT + 2 * i + 1] =
			address_of(BINS_AT + 2 * i) - 16;
}

/* Whether the word at that place reaches the block. */
static bool is_reached(uint32_t at, uint64_t word, const struct mark_block *block)
{
	struct marks marks;
	const uint64_t before = data[at];

	data[at] = word;
	CHECK_EQ(marks_open(&marks, block, 1), 0);
	CHECK_EQ(glibc_bins_mark_range(&marks, &memory, BASE, BASE + sizeof(data)), 0);
	const bool is_reached = marks.state[0] == MARK_REACHED;
	marks_close(&marks);
	data[at] = before;
	return is_reached;
}

UNIT_TEST(the_chunk_after_a_block_is_no_pointer_to_it_in_the_lists)
{
	static const struct mark_block block = {0x700010, 81};
	const uint64_t next = block.address - 16 + 96;

	empty(0, BINS);
	for (uint32_t at = TOP; at < BINS_AT + 2 * BINS; at++) {
		CHECK(!is_reached(at, next, &block));
		CHECK(is_reached(at, next - 8, &block));
		CHECK(is_reached(at, block.address, &block));
	}
	CHECK(is_reached(0, next, &block));
	CHECK(is_reached(WORDS - 1, next, &block));
}

UNIT_TEST(no_block_ends_where_the_next_chunk_begins_if_its_last_word_is_not_its)
{
	for (uint64_t bytes = 1; bytes < 200; bytes++) {
		const struct mark_block block = {0x700010, bytes};

		empty(0, BINS);
		for (uint64_t word = block.address; word < block.address + bytes; word++) {
			const bool is_chunk = word % 16 == 0 && word + 8 >= block.address + bytes &&
					      word > block.address;

			if (is_reached(TOP, word, &block) == is_chunk && bytes > 16)
				UNIT_FAIL("%u bytes, at %u", (unsigned)bytes,
					  (unsigned)(word - block.address));
		}
	}
}

/* Where some lists are not empty, those at the ends among them. */
UNIT_TEST(the_lists_are_found_by_those_that_are_empty)
{
	static const struct mark_block block = {0x700010, 24};
	const uint64_t next = block.address + 16;

	empty(40, 30);
	CHECK(!is_reached(TOP, next, &block));
	CHECK(!is_reached(BINS_AT, next, &block));
	CHECK(!is_reached(BINS_AT + 2 * BINS - 1, next, &block));
	empty(0, 15);
	CHECK(is_reached(TOP, next, &block));
	empty(0, 0);
	CHECK(is_reached(TOP, next, &block));
}

UNIT_TEST(ranges_without_lists_are_marked_as_others)
{
	static const struct mark_block block = {0x700010, 24};

	empty(0, 0);
	CHECK(is_reached(0, block.address + 23, &block));
	CHECK(!is_reached(0, block.address + 24, &block));
}

static uint64_t list_at(uint32_t number)
{
	return address_of(BINS_AT + 2 * number) - 16;
}

static bool has_list(uint64_t word)
{
	struct glibc_bins bins = {0};
	bool has = true, has_again = false;

	CHECK_EQ(glibc_bins_has_list(&bins, &memory, word, &has), 0);
	CHECK_EQ(glibc_bins_has_list(&bins, &memory, word, &has_again), 0);
	CHECK_EQ(has, has_again);
	return has;
}

UNIT_TEST(the_address_of_each_list_is_one_and_no_other_address)
{
	empty(0, BINS);
	for (uint64_t word = BASE - 64; word < BASE + sizeof(data) + 64; word++) {
		const uint64_t from = word - list_at(0);
		const bool want = word >= list_at(0) && word < list_at(BINS) && from % 16 == 0;

		if (has_list(word) != want)
			UNIT_FAIL("word %ld", (long)from);
	}
	CHECK(!has_list(0));
	CHECK(!has_list(16));
	CHECK(!has_list(UINT64_MAX));
	CHECK(!has_list(UINT64_MAX - 15));
}

/* One with a chunk, whose links lead back to it. */
UNIT_TEST(a_list_that_is_not_empty_is_one_while_its_chunks_lead_back)
{
	const uint64_t chunk = address_of(500);

	empty(0, BINS);
	data[BINS_AT] = data[BINS_AT + 1] = chunk;
	CHECK(!has_list(list_at(0)));
	data[502] = data[503] = list_at(0);
	CHECK(has_list(list_at(0)));
	CHECK(has_list(list_at(1)));
	data[503] = chunk;
	CHECK(!has_list(list_at(0)));
}

/* The same two words are the ends of an empty tree, as of std::map. */
UNIT_TEST(what_few_others_are_beside_is_no_list)
{
	empty(7, 1);
	CHECK(!has_list(list_at(7)));
	empty(7, 15);
	CHECK(!has_list(list_at(7)));
	empty(7, 16);
	CHECK(has_list(list_at(7)));
}

UNIT_MAIN()
