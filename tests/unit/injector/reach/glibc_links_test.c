/* SPDX-License-Identifier: MIT */
/* glibc_links_test.c - blocks that were in lists of free chunks before, by hand. */
#include "glibc_links.h"

#include "unit.h"

#define BASE 0x200000u
#define WORDS 400u
#define LISTS_AT 300u /* the first word of the first list */
#define LISTS 40u
#define LIST (BASE + (LISTS_AT + 10) * 8 - 16)
#define OTHER_LIST (LIST + 16)

/* A block, of which the last word is the address of the chunk after it, and one in which links are.
 */
#define SMALL (BASE + 0x100u)
#define AFTER_SMALL (SMALL + 16)
#define REUSED_WORD 64u
#define REUSED (BASE + REUSED_WORD * 8)

static uint64_t data[WORDS];
static const struct mark_block small = {SMALL, 24};

static int walk(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor)
{
	(void)context;
	for (uint64_t at = lo; at + 8 <= hi; at += 8)
		if (at >= BASE && at < BASE + sizeof(data))
			visit(visitor, at, &data[(at - BASE) / 8], 1);
	return 0;
}

static const struct mark_memory memory = {.walk = walk};

static void put(uint32_t word, uint64_t first, uint64_t second)
{
	data[word] = first;
	data[word + 1] = second;
}

static void clear(void)
{
	memset(data, 0, sizeof(data));
	for (uint32_t i = LISTS_AT; i < LISTS_AT + 2 * LISTS; i += 2)
		put(i, BASE + i * 8 - 16, BASE + i * 8 - 16);
}

static bool is_link_to(const struct mark_block *block, uint32_t word)
{
	struct glibc_links glibc = {.memory = &memory};
	const struct mark_links links = glibc_links(&glibc);

	return links.is_link(links.context, block, BASE + word * 8, data[word]);
}

static bool is_link(uint32_t word)
{
	return is_link_to(&small, word);
}

UNIT_TEST(the_next_chunk_beside_a_list_is_a_link)
{
	clear();
	put(REUSED_WORD, LIST, AFTER_SMALL);
	CHECK(is_link(REUSED_WORD + 1));
	put(REUSED_WORD, AFTER_SMALL, LIST);
	CHECK(is_link(REUSED_WORD));
	/* anywhere in a block */
	put(REUSED_WORD + 10, OTHER_LIST, AFTER_SMALL);
	CHECK(is_link(REUSED_WORD + 11));
}

UNIT_TEST(the_same_words_without_a_list_are_pointers)
{
	clear();
	put(REUSED_WORD, AFTER_SMALL, AFTER_SMALL);
	CHECK(!is_link(REUSED_WORD));
	CHECK(!is_link(REUSED_WORD + 1));
	put(REUSED_WORD, 0, AFTER_SMALL);
	CHECK(!is_link(REUSED_WORD + 1));
	put(REUSED_WORD, REUSED, AFTER_SMALL);
	CHECK(!is_link(REUSED_WORD + 1));
	/* a list in the pair beside it */
	put(REUSED_WORD, LIST, OTHER_LIST);
	put(REUSED_WORD + 2, AFTER_SMALL, 0);
	CHECK(!is_link(REUSED_WORD + 2));
}

UNIT_TEST(other_bytes_of_a_block_are_pointers_to_it_beside_a_list)
{
	clear();
	for (uint64_t to = SMALL; to < SMALL + 24; to++) {
		put(REUSED_WORD, LIST, to);
		CHECK_EQ(is_link(REUSED_WORD + 1), to == AFTER_SMALL);
	}
}

UNIT_TEST(the_last_word_that_is_not_where_a_chunk_begins_is_a_pointer)
{
	static const struct mark_block even = {SMALL, 32};

	clear();
	put(REUSED_WORD, LIST, SMALL + 24);
	CHECK(!is_link_to(&even, REUSED_WORD + 1));
}

/* A large chunk that was the only one of its size, behind the block. */
UNIT_TEST(its_own_chunk_twice_behind_a_pair_with_a_list_is_a_link)
{
	static const struct mark_block before = {REUSED - 32, 24};
	const uint64_t own = REUSED - 16;

	clear();
	put(REUSED_WORD, LIST, BASE);
	put(REUSED_WORD + 2, own, own);
	CHECK(is_link_to(&before, REUSED_WORD + 2));
	CHECK(is_link_to(&before, REUSED_WORD + 3));
	put(REUSED_WORD + 2, own, 0);
	CHECK(!is_link_to(&before, REUSED_WORD + 2));
	put(REUSED_WORD + 2, own, own);
	put(REUSED_WORD, BASE, BASE);
	CHECK(!is_link_to(&before, REUSED_WORD + 2));
	put(REUSED_WORD, LIST, BASE);
	put(REUSED_WORD + 2, AFTER_SMALL, AFTER_SMALL);
	CHECK(!is_link(REUSED_WORD + 2));
}

UNIT_MAIN()
