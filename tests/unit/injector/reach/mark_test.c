/* SPDX-License-Identifier: MIT */
/* mark_test.c - marking over a heap by hand, which no process has. */
#include "mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define BASE 0x100000u
#define WORDS (1u << 18)

/* Memory from BASE on. */
static uint64_t heap[WORDS];
static int walk_error;
static size_t walks;

static int walk(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor)
{
	(void)context;
	walks++;
	CHECK(lo % 8 == 0 && lo >= BASE && hi <= BASE + sizeof(heap));
	/* in pieces, as a large range comes */
	for (uint64_t at = lo; at + 8 <= hi; at += 24) {
		const uint64_t left = (hi - at) / 8;

		visit(visitor, at, &heap[(at - BASE) / 8], left < 3 ? left : 3);
	}
	return walk_error;
}

static const struct mark_memory memory = {.walk = walk};

static void put(uint64_t at, uint64_t word)
{
	memcpy((char *)heap + (at - BASE), &word, sizeof(word));
}

/* Marks from one root word, and sorts the rest out. */
static struct marks marked(const struct mark_block *block, size_t count, uint64_t root)
{
	struct marks marks;

	CHECK_EQ(marks_open(&marks, block, count), 0);
	marks_words(&marks, &root, 1);
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	CHECK_EQ(marks_sort_out(&marks, &memory), 0);
	return marks;
}

static void check_states(const struct marks *marks, const char *want)
{
	static const char letter[] = "LIR";

	CHECK_EQ(strlen(want), marks->count);
	for (uint32_t i = 0; want[i]; i++)
		if (letter[marks->state[i]] != want[i])
			UNIT_FAIL("block %u is %c, not %c", i, letter[marks->state[i]], want[i]);
}

UNIT_TEST(no_blocks)
{
	struct marks marks = marked(NULL, 0, BASE);

	CHECK_EQ(marks.count, 0);
	CHECK_EQ(marks_range(&marks, &memory, BASE, BASE + 64), 0);
	marks_close(&marks);
}

UNIT_TEST(what_a_root_refers_to_is_reached_however_far)
{
	static const struct mark_block block[] = {
		{BASE, 16}, {BASE + 32, 16}, {BASE + 64, 16}, {BASE + 96, 16}};

	memset(heap, 0, sizeof(heap));
	put(BASE + 8, BASE + 64);
	put(BASE + 64, BASE + 32);
	struct marks marks = marked(block, 4, BASE);

	check_states(&marks, "RRRL");
	CHECK_EQ(marks.leader[3], 3);
	marks_close(&marks);
}

UNIT_TEST(every_byte_of_a_block_is_a_pointer_to_it_and_no_byte_beside_it)
{
	static const struct mark_block block[] = {{BASE + 64, 24}, {BASE + 128, 0}};

	memset(heap, 0, sizeof(heap));
	for (uint64_t at = BASE; at < BASE + 160; at++) {
		struct marks marks = marked(block, 2, at);
		const bool is_first = at >= BASE + 64 && at < BASE + 64 + 24;

		check_states(&marks, is_first ? "RL" : at == BASE + 128 ? "LR" : "LL");
		marks_close(&marks);
	}
}

/* Where the CPU ignores bits of a pointer, a program may have anything there. */
UNIT_TEST(bits_that_the_cpu_ignores_are_no_part_of_a_pointer)
{
	static const struct mark_block block[] = {{BASE + 32, 16}, {BASE + 64, 16}};
	const bool has_tags = HI_ARCH_POINTER_BITS < 64;

	for (uint64_t tag = 1; tag < 256; tag++) {
		memset(heap, 0, sizeof(heap));
		put(BASE + 40, (BASE + 64) | tag << 56);
		struct marks marks = marked(block, 2, BASE + 32);

		check_states(&marks, has_tags ? "RR" : "RL");
		marks_close(&marks);
		marks = marked(block, 2, (BASE + 32) | tag << 56);
		check_states(&marks, has_tags ? "RR" : "LL");
		marks_close(&marks);
		/* bits below are no tag */
		marks = marked(block, 2, (BASE + 64) | 1ull << (48 + tag % 8));
		check_states(&marks, has_tags ? "LI" : "LL");
		marks_close(&marks);
	}
}

UNIT_TEST(the_end_of_a_block_of_one_word_is_a_pointer_to_it)
{
	static const struct mark_block word[] = {{BASE + 64, 8}}, two[] = {{BASE + 64, 16}},
				       followed[] = {{BASE + 64, 8}, {BASE + 72, 8}};
	struct marks marks = marked(word, 1, BASE + 72);

	check_states(&marks, "R");
	marks_close(&marks);
	marks = marked(two, 1, BASE + 80);
	check_states(&marks, "L");
	marks_close(&marks);
	marks = marked(followed, 2, BASE + 72);
	check_states(&marks, "LR");
	marks_close(&marks);
}

UNIT_TEST(only_whole_words_at_multiples_of_their_size_are_pointers)
{
	static const struct mark_block block[] = {{BASE + 4, 27}, {BASE + 64, 16}};

	memset(heap, 0, sizeof(heap));
	put(BASE + 12, BASE + 64);
	struct marks marks = marked(block, 2, BASE + 4);

	check_states(&marks, "RL");
	marks_close(&marks);
	memset(heap, 0, sizeof(heap));
	put(BASE + 24, BASE + 64); /* its last byte is outside of the block, which ends at 31 */
	marks = marked(block, 2, BASE + 4);
	check_states(&marks, "RL");
	marks_close(&marks);
	memset(heap, 0, sizeof(heap));
	put(BASE + 16, BASE + 64);
	marks = marked(block, 2, BASE + 4);
	check_states(&marks, "RR");
	marks_close(&marks);
}

UNIT_TEST(a_range_is_a_root_from_its_first_whole_word_on)
{
	static const struct mark_block block[] = {{BASE + 1024, 16}, {BASE + 2048, 16}};
	struct marks marks;

	memset(heap, 0, sizeof(heap));
	put(BASE + 8, BASE + 1024);
	put(BASE + 16, BASE + 2048);
	CHECK_EQ(marks_open(&marks, block, 2), 0);
	CHECK_EQ(marks_range(&marks, &memory, BASE + 9, BASE + 24), 0);
	check_states(&marks, "LR");
	CHECK_EQ(marks_range(&marks, &memory, BASE + 8, BASE + 15), 0);
	check_states(&marks, "LR");
	CHECK_EQ(marks_range(&marks, &memory, BASE + 8, BASE + 16), 0);
	check_states(&marks, "RR");
	CHECK_EQ(marks_range(&marks, &memory, UINT64_MAX - 3, UINT64_MAX), 0);
	CHECK_EQ(marks_range(&marks, &memory, BASE + 64, BASE), 0);
	marks_close(&marks);
}

UNIT_TEST(what_only_leaked_blocks_refer_to_is_indirect)
{
	static const struct mark_block block[] = {
		{BASE, 16}, {BASE + 32, 16}, {BASE + 64, 16}, {BASE + 96, 16}, {BASE + 128, 16}};

	memset(heap, 0, sizeof(heap));
	put(BASE + 96, BASE + 64); /* 3 -> 2 -> 1 */
	put(BASE + 64, BASE + 32);
	put(BASE + 104, BASE + 96); /* to itself */
	put(BASE + 40, BASE);       /* 1 -> 0, which is reached */
	struct marks marks = marked(block, 5, BASE);

	check_states(&marks, "RIILL");
	CHECK_EQ(marks.leader[1], 3);
	CHECK_EQ(marks.leader[2], 3);
	CHECK_EQ(marks.leader[3], 3);
	CHECK_EQ(marks.leader[4], 4);
	marks_close(&marks);
}

UNIT_TEST(a_ring_is_indirect_and_has_one_leader)
{
	static const struct mark_block block[] = {{BASE, 16}, {BASE + 32, 16}, {BASE + 64, 16}};

	memset(heap, 0, sizeof(heap));
	put(BASE, BASE + 32);
	put(BASE + 32, BASE + 64);
	put(BASE + 64, BASE);
	struct marks marks = marked(block, 3, 0);

	check_states(&marks, "III");
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(marks.leader[i], 0);
	marks_close(&marks);
	put(BASE + 72, BASE + 64);
	marks = marked(block, 3, BASE + 70);
	check_states(&marks, "RRR");
	marks_close(&marks);
}

UNIT_TEST(a_block_may_be_a_root_by_itself)
{
	static const struct mark_block block[] = {{BASE, 16}, {BASE + 32, 16}, {BASE + 64, 16}};
	struct marks marks;

	memset(heap, 0, sizeof(heap));
	put(BASE + 32, BASE + 64);
	CHECK_EQ(marks_open(&marks, block, 3), 0);
	marks_block(&marks, 1);
	marks_block(&marks, 1);
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	CHECK_EQ(marks_sort_out(&marks, &memory), 0);
	check_states(&marks, "LRR");
	marks_close(&marks);
}

/* Links: words that the allocator has left at these two addresses. */
static bool is_left(void *context, const struct mark_block *block, uint64_t at, uint64_t word)
{
	CHECK(word >= block->address && word < block->address + block->bytes);
	CHECK(heap[(at - BASE) / 8] == word);
	++*(unsigned *)context;
	return at == BASE + 8 || at == BASE + 120;
}

UNIT_TEST(a_link_that_the_allocator_has_left_in_a_block_is_no_pointer)
{
	static const struct mark_block block[] = {
		{BASE, 32}, {BASE + 32, 16}, {BASE + 64, 16}, {BASE + 96, 32}, {BASE + 128, 16}};
	const uint64_t root = BASE;
	unsigned asked = 0;
	const struct mark_links links = {is_left, &asked};
	struct marks marks;

	memset(heap, 0, sizeof(heap));
	put(BASE + 8, BASE + 32);   /* a link, of a block that is reached */
	put(BASE + 24, BASE + 64);  /* none */
	put(BASE + 120, BASE + 32); /* a link, of a leaked block */
	put(BASE + 112, BASE + 128);
	CHECK_EQ(marks_open(&marks, block, 5), 0);
	marks.links = &links;
	/* a root is not a block */
	marks_words(&marks, &root, 1);
	CHECK_EQ(marks_range(&marks, &memory, BASE + 1024, BASE + 2048), 0);
	CHECK_EQ(asked, 0);
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	CHECK(asked >= 2);
	CHECK_EQ(marks_sort_out(&marks, &memory), 0);
	check_states(&marks, "RLRLI");
	CHECK_EQ(marks.leader[1], 1);
	CHECK_EQ(marks.leader[4], 3);
	marks_close(&marks);
}

/* Blocks of `words` words each, which refer to others, or nowhere, by chance. */
static void make_random(struct mark_block *block, uint32_t count, uint32_t words, unsigned seed)
{
	memset(heap, 0, sizeof(heap));
	srand(seed);
	for (uint32_t i = 0; i < count; i++)
		block[i] = (struct mark_block){BASE + i * words * 8, words * 8};
	for (uint32_t i = 0; i < count * words; i++)
		if (rand() % 2)
			heap[i] = block[(uint32_t)rand() % count].address + (uint32_t)rand() % 8;
}

/* What is reached from block 0, found without any order. */
static size_t reach_slowly(const struct mark_block *block, uint32_t count, uint8_t *out_reached)
{
	const uint32_t words = (uint32_t)(block[0].bytes / 8);
	size_t reached = 1;
	bool is_more = true;

	memset(out_reached, 0, count);
	out_reached[0] = 1;
	while (is_more) {
		is_more = false;
		for (uint32_t i = 0; i < count * words; i++) {
			const uint32_t to = (uint32_t)((heap[i] - BASE) / (words * 8));

			if (!heap[i] || !out_reached[i / words] || out_reached[to])
				continue;
			out_reached[to] = 1;
			reached++;
			is_more = true;
		}
	}
	return reached;
}

UNIT_TEST(each_block_is_read_once_whatever_the_order_of_the_references)
{
	enum { BLOCKS = 2000 };
	static struct mark_block block[BLOCKS];
	static uint8_t reached[BLOCKS];
	const uint64_t root = BASE;

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct marks marks;

		make_random(block, BLOCKS, 2, seed);
		const size_t count = reach_slowly(block, BLOCKS, reached);
		CHECK_EQ(marks_open(&marks, block, BLOCKS), 0);
		marks_words(&marks, &root, 1);
		walks = 0;
		CHECK_EQ(marks_spread(&marks, &memory), 0);
		CHECK_EQ(walks, BLOCKS);
		CHECK_EQ(marks_sort_out(&marks, &memory), 0);
		CHECK_EQ(walks, BLOCKS + BLOCKS - count);
		for (uint32_t i = 0; i < BLOCKS; i++)
			CHECK_EQ(marks.state[i] == MARK_REACHED, reached[i]);
		marks_close(&marks);
	}
}

/* From there on blocks are read again when they are reached, and none is missed. */
UNIT_TEST(more_references_than_are_noted)
{
	enum { BLOCKS = 1000, BLOCK_WORDS = WORDS / BLOCKS };
	static struct mark_block block[BLOCKS];
	const uint64_t root = BASE + (uint64_t)(BLOCKS - 1) * BLOCK_WORDS * 8;
	struct marks marks;

	CHECK(BLOCKS * BLOCK_WORDS > BLOCK_EDGES_LEAST + BLOCKS * BLOCK_EDGES_EACH);
	make_random(block, BLOCKS, BLOCK_WORDS, 3);
	/* a chain from the last block to the first, and each refers to those before it often */
	for (uint32_t i = 0; i < BLOCKS * BLOCK_WORDS; i++)
		heap[i] = i / BLOCK_WORDS ? block[i / BLOCK_WORDS - 1].address : 0;
	CHECK_EQ(marks_open(&marks, block, BLOCKS), 0);
	walks = 0;
	CHECK_EQ(marks_sort_out(&marks, &memory), 0);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		CHECK_EQ(marks.state[i], i == BLOCKS - 1 ? MARK_LEAKED : MARK_INDIRECT);
		CHECK_EQ(marks.leader[i], BLOCKS - 1);
	}
	marks_close(&marks);
	CHECK_EQ(marks_open(&marks, block, BLOCKS), 0);
	marks_words(&marks, &root, 1);
	walks = 0;
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	CHECK(walks > BLOCKS / 2 && walks <= 2 * BLOCKS);
	for (uint32_t i = 0; i < BLOCKS; i++)
		CHECK_EQ(marks.state[i], MARK_REACHED);
	marks_close(&marks);
}

/* What is reached after that is read as it is then. */
UNIT_TEST(what_is_marked_later_is_read_anew)
{
	static const struct mark_block block[] = {{BASE, 16}, {BASE + 32, 16}, {BASE + 64, 16}};
	struct marks marks;

	memset(heap, 0, sizeof(heap));
	put(BASE, BASE + 32);
	CHECK_EQ(marks_open(&marks, block, 3), 0);
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	put(BASE, BASE + 64);
	marks_block(&marks, 0);
	CHECK_EQ(marks_spread(&marks, &memory), 0);
	check_states(&marks, "RLR");
	marks_close(&marks);
}

UNIT_TEST(an_error_of_the_memory_ends_the_marking)
{
	static const struct mark_block block[] = {{BASE, 16}, {BASE + 32, 16}};
	const uint64_t roots[] = {BASE, BASE + 32};
	struct marks marks;

	CHECK_EQ(marks_open(&marks, block, 2), 0);
	walk_error = -ETIMEDOUT;
	CHECK_EQ(marks_range(&marks, &memory, BASE + 64, BASE + 128), -ETIMEDOUT);
	CHECK_EQ(marks_sort_out(&marks, &memory), -ETIMEDOUT);
	walks = 0;
	marks_words(&marks, roots, 2);
	CHECK_EQ(marks_spread(&marks, &memory), -ETIMEDOUT);
	CHECK_EQ(walks, 1);
	walk_error = 0;
	marks_close(&marks);
}

/* Blocks that the stream of a hostile program may have: they overlap, and end beyond all memory. */
/* Heaps are far from each other: that of brk, and what mmap gave. */
UNIT_TEST(a_word_finds_its_block_in_heaps_that_are_far_apart)
{
	enum { PART = 1000 };
	static const uint64_t part[] = {0x5500000000, 0x5540000000, 0x7f0000000000};
	static struct mark_block block[3 * PART];
	struct block_index index;
	uint32_t found;

	for (size_t i = 0; i < 3 * PART; i++)
		block[i] = (struct mark_block){part[i / PART] + i % PART * 64, 48};
	CHECK_EQ(block_index_open(&index, block, 3 * PART), 0);
	for (size_t i = 0; i < 3 * PART; i++) {
		CHECK(block_index_find(&index, block[i].address, &found) && found == i);
		CHECK(block_index_find(&index, block[i].address + 47, &found) && found == i);
		CHECK(!block_index_find(&index, block[i].address + 48, &found));
		CHECK(!block_index_find(&index, block[i].address - 1, &found));
	}
	for (size_t i = 0; i < 3; i++)
		CHECK(!block_index_find(&index, part[i] + (1u << 28), &found));
	block_index_close(&index);
}

UNIT_TEST(impossible_blocks_do_no_harm)
{
	static const struct mark_block block[] = {
		{1, UINT64_MAX}, {2, 0}, {BASE, 64}, {BASE + 8, 8}, {UINT64_MAX, 5}};
	const uint64_t words[] = {0, 1, 2, 3, BASE + 9, BASE + 16, UINT64_MAX, UINT64_MAX - 1};
	struct marks marks;

	CHECK_EQ(marks_open(&marks, block, 5), 0);
	marks_words(&marks, words, sizeof(words) / sizeof(*words));
	check_states(&marks, "RRLRL");
	marks_close(&marks);
}

/* Against a search that looks at each block. */
UNIT_TEST(a_word_finds_its_block_among_many)
{
	enum { BLOCKS = 3000 };
	struct mark_block *block = calloc(BLOCKS, sizeof(*block));
	uint64_t at = BASE;
	struct marks marks;

	srand(7);
	for (size_t i = 0; i < BLOCKS; i++) {
		block[i] = (struct mark_block){at, (uint64_t)rand() % 200};
		at += block[i].bytes + 1 + (uint64_t)rand() % (i % 100 ? 50 : 5000000);
	}
	for (unsigned round = 0; round < 3000; round++) {
		const struct mark_block *near = &block[(size_t)rand() % BLOCKS];
		const uint64_t word = near->address + (uint64_t)rand() % 400 - 100;
		uint32_t want = UINT32_MAX;

		for (uint32_t i = 0; i < BLOCKS; i++)
			if (word >= block[i].address &&
			    word < block[i].address + (block[i].bytes ? block[i].bytes : 1))
				want = i;
		if (want == UINT32_MAX)
			continue;
		CHECK_EQ(marks_open(&marks, block, BLOCKS), 0);
		marks_words(&marks, &word, 1);
		for (uint32_t i = 0; i < BLOCKS; i++)
			CHECK_EQ(marks.state[i] == MARK_REACHED, i == want);
		marks_close(&marks);
	}
	free(block);
}

UNIT_MAIN()
