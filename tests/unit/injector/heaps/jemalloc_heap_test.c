/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_heap: extents and caches that are laid out here as jemalloc does it, found and walked in
 * this very process.
 */
#include "heap_pieces.h"

#define PAGE 4096u /* where nothing else is said */
#define LARGE_PAGE 65536u
#define WORDS_MAX (1u << 18)
#define LARGE (2u << 20)
#define STACKS 40u
#define STACK_ROOM 16u
#define UNUSED_CLASS 232u
#define CLASS_32 2u
#define CLASS_8192 32u
#define CLASS_16384 36u
#define CLASS_262144 52u

static size_t page_bytes, map_words; /* of a page; in the map, and in each of its leaves */
static uint64_t *root[WORDS_MAX];    /* the map */

/* edata_t */
struct extent {
	uint64_t bits, block, size, others[5];
	uint64_t bitmap[136]; /* as large as it is with large pages, to a multiple of 128 bytes */
};

/* Where fields of its first word are. */
static const struct version {
	unsigned state, size_class, free, alignment;
} versions[] = {{17, 20, 28, 128}, {16, 18, 26, 64}};
static const struct version *version;

/* base_block_t, and what follows it: here only what leads to the caches, and descriptors. */
static struct own_block {
	uint64_t size, next, bits, rest, rest_bytes, others[13];
	struct links *ring;
	uint8_t padding[104];
	struct extent extent[16];
} * own_block;

/* cache_bin_array_descriptor_t */
static struct links {
	struct links *next, *previous;
	void *stacks, *large_stacks;
} links[2];

/* cache_bin_t, of jemalloc 5.3 and before */
static union {
	struct {
		uint64_t **top, requests;
		uint16_t low, full, end;
	} now;
	struct {
		int32_t low, items;
		uint64_t requests, **end;
	} before;
} stack[2][STACKS];
_Static_assert(sizeof(stack[0][0]) == 24, "the size of jemalloc's cache bins");
static uint64_t *room[2][STACKS * STACK_ROOM];

static uint8_t *heap; /* pages 0 to 31 */

/* Puts the extent of these pages where the map leads to it. */
static struct extent *lay_extent(unsigned page, unsigned pages, unsigned state, unsigned size_class)
{
	const uint64_t number = address_of(heap) / page_bytes + page;
	struct extent *extent = &own_block->extent[page % 16];
	const uint64_t word = address_of(extent) | (uint64_t)size_class << 48;

	*extent = (struct extent){.bits = (uint64_t)state << version->state |
					  (uint64_t)size_class << version->size_class,
				  .block = number * page_bytes,
				  .size = (uint64_t)pages * page_bytes + page};
	root[number / map_words][number % map_words] = word;
	root[number / map_words][(number + pages - 1) % map_words] = word;
	return extent;
}

/* A slab of one page, of blocks of 32 bytes, with these of the first 64 free. */
static struct extent *lay_slab(unsigned page, uint64_t free_blocks)
{
	struct extent *extent = lay_extent(page, 1, 0, CLASS_32);
	const uint64_t number = address_of(heap) / page_bytes + page;

	extent->bits |= 1u << 12 | (uint64_t)__builtin_popcountll(free_blocks) << version->free;
	extent->bitmap[0] = free_blocks;
	root[number / map_words][number % map_words] |= 1;
	return extent;
}

/* A cache whose stacks are empty, and have their items in `items`. */
static void lay_cache(unsigned cache, uint64_t **items)
{
	for (unsigned i = 0; i < STACKS; i++) {
		uint64_t **end = &items[(i + 1) * STACK_ROOM];

		if (version == &versions[0]) {
			stack[cache][i].now.top = end;
			stack[cache][i].now.full = (uint16_t)address_of(end - STACK_ROOM);
			stack[cache][i].now.end = stack[cache][i].now.low =
				(uint16_t)address_of(end);
		} else {
			stack[cache][i].before.low = -1;
			stack[cache][i].before.items = 0;
			stack[cache][i].before.end = end;
		}
	}
	links[cache] =
		(struct links){&links[!cache], &links[!cache], stack[cache], &stack[cache][36]};
}

static void push(unsigned cache, unsigned size_class, void *block)
{
	if (version == &versions[0])
		*--stack[cache][size_class].now.top = block;
	else
		*(stack[cache][size_class].before.end - ++stack[cache][size_class].before.items) =
			block;
}

static void lay_heap_of_pages(const struct version *of, size_t bytes)
{
	version = of;
	page_bytes = bytes;
	/* 48 bits of addresses: half of those of a page's number are in the map, and half in leaves
	 */
	map_words = bytes == PAGE ? 1u << 18 : 1u << 16;
	memset(root, 0, sizeof(root));
	heap = heap_memory(32 * page_bytes, 32 * page_bytes);
	root[address_of(heap) / page_bytes / map_words] =
		(void *)heap_memory(sizeof(uint64_t) * map_words, LARGE);
	own_block = (void *)heap_memory(LARGE, LARGE);
	own_block->size = LARGE;
	own_block->rest = address_of(own_block) + sizeof(*own_block);
	own_block->rest_bytes = LARGE - sizeof(*own_block);
	own_block->ring = links;
	lay_cache(0, room[0]);
	lay_cache(1, room[1]);
	lay_slab(0, 1ull << 63 | 6);
}

static void lay_heap(const struct version *of)
{
	lay_heap_of_pages(of, PAGE);
}

static const struct seen *walk(void)
{
	return heap_pieces(jemalloc_heap_walk, "jemalloc_heap_test");
}

static const struct seen *walk_well(void)
{
	const struct seen *seen = walk();

	CHECK_EQ(seen->err, 0);
	CHECK_STR(seen->found.refusal, "");
	return seen;
}

static uint8_t *block(unsigned index)
{
	return heap + (size_t)index * 32;
}

UNIT_TEST(slab)
{
	for (unsigned i = 0; i < 2; i++) {
		lay_heap(&versions[i]);
		const struct seen *seen = walk_well();

		CHECK_EQ(strstr(seen->found.name, "5.3") != NULL, i == 0);
		for (unsigned j = 0; j < 128; j++)
			check_piece(seen, block(j),
				    j == 1 || j == 2 || j == 63 ? HEAP_FREE : HEAP_USED, 32);
		CHECK_EQ(seen->piece[seen->count - 1].kind, HEAP_METADATA);
		CHECK_EQ(seen->found.arenas, 1);
	}
}

/* With pages of 64 KB, a slab has more blocks, and of larger sizes. */
UNIT_TEST(large_pages)
{
	lay_heap_of_pages(&versions[0], LARGE_PAGE);
	struct extent *extent = lay_slab(0, 6);
	extent->bits += 1ull << version->free;
	extent->bitmap[31] = 1ull << 63;
	lay_extent(1, 1, 0, CLASS_16384);
	own_block->extent[1].bits |= 1u << 12 | 1ull << version->free;
	own_block->extent[1].bitmap[0] = 2;
	lay_extent(2, 5, 0, CLASS_262144);
	lay_extent(7, 2, 1, UNUSED_CLASS);
	push(0, CLASS_16384, heap + LARGE_PAGE);
	const struct seen *seen = walk_well();

	for (unsigned i = 0; i < LARGE_PAGE / 32; i++)
		check_piece(seen, block(i), i == 1 || i == 2 || i == 2047 ? HEAP_FREE : HEAP_USED,
			    32);
	for (unsigned i = 0; i < 4; i++)
		check_piece(seen, heap + LARGE_PAGE + (size_t)i * 16384,
			    i == 0   ? HEAP_CACHED
			    : i == 1 ? HEAP_FREE
				     : HEAP_USED,
			    16384);
	check_piece(seen, heap + 2 * LARGE_PAGE, HEAP_USED, 262144);
	check_piece(seen, heap + 7 * LARGE_PAGE, HEAP_FREE, 2 * LARGE_PAGE);
	CHECK(is_trimmable(seen, heap + 7 * LARGE_PAGE));
}

/* In both caches of the ring, small and larger ones. */
UNIT_TEST(cached_blocks)
{
	for (unsigned i = 0; i < 2; i++) {
		lay_heap(&versions[i]);
		lay_extent(1, 5, 0, CLASS_16384)->block += 64;
		push(0, CLASS_32, block(5));
		push(0, CLASS_32, block(127));
		push(1, CLASS_32, block(6));
		push(1, CLASS_32, block(7) + 8); /* none */
		push(1, CLASS_16384, heap + PAGE + 64);
		const struct seen *seen = walk_well();

		for (unsigned j = 3; j < 9; j++)
			check_piece(seen, block(j), j == 5 || j == 6 ? HEAP_CACHED : HEAP_USED, 32);
		check_piece(seen, block(127), HEAP_CACHED, 32);
		check_piece(seen, heap + PAGE + 64, HEAP_CACHED, 16384);
	}
}

/* What jemalloc has taken for the stacks is not in use by the program. */
UNIT_TEST(stacks_in_a_block)
{
	for (unsigned i = 0; i < 2; i++) {
		lay_heap(&versions[i]);
		lay_extent(1, 3, 0, CLASS_8192);
		lay_extent(4, 3, 0, CLASS_8192);
		lay_cache(0, (void *)(heap + PAGE));
		push(0, CLASS_32, block(5));
		const struct seen *seen = walk_well();

		check_piece(seen, heap + PAGE, HEAP_METADATA, 8192);
		check_piece(seen, heap + 4 * PAGE, HEAP_USED, 8192);
		check_piece(seen, block(5), HEAP_CACHED, 32);
	}
}

UNIT_TEST(whole_pages)
{
	for (unsigned i = 0; i < 2; i++) {
		lay_heap(&versions[i]);
		lay_extent(1, 3, 0, CLASS_8192)->block += 192;
		lay_extent(4, 2, 1, UNUSED_CLASS);
		lay_extent(6, 2, 2, UNUSED_CLASS);
		lay_extent(8, 4, 3, UNUSED_CLASS)->bits |= 2;
		const struct seen *seen = walk_well();

		check_piece(seen, heap + PAGE + 192, HEAP_USED, 8192);
		CHECK_EQ(piece_at(seen, heap + PAGE + 192)->head_bytes, 192);
		CHECK_EQ(piece_at(seen, heap + PAGE + 192)->tail_bytes, PAGE - 192);
		CHECK(is_whole_unit(seen, heap, heap + PAGE));
		CHECK(is_whole_unit(seen, heap + PAGE, heap + 4 * PAGE));
		CHECK_EQ(seen->units, 2);
		check_piece(seen, heap + 4 * PAGE, HEAP_FREE, 2 * PAGE);
		check_piece(seen, heap + 6 * PAGE, HEAP_FREE, 2 * PAGE);
		check_piece(seen, heap + 8 * PAGE, HEAP_FREE, 4 * PAGE);
		CHECK_EQ(seen->trimmables, 2);
		CHECK(is_trimmable(seen, heap + 4 * PAGE) && is_trimmable(seen, heap + 6 * PAGE));
		CHECK_EQ(seen->found.arenas, 3);
	}
}

/* A count that does not agree with the bits, and an extent that is being merged. */
UNIT_TEST(damaged_extents)
{
	lay_heap(&versions[0]);
	lay_slab(1, 1)->bitmap[0] = 3;
	lay_extent(2, 1, 5, UNUSED_CLASS);
	lay_extent(3, 1, 0, CLASS_32)->block += PAGE;
	const struct seen *seen = walk_well();

	check_piece(seen, heap + PAGE, HEAP_UNSURE, PAGE);
	check_piece(seen, heap + 2 * PAGE, HEAP_UNSURE, PAGE);
	check_piece(seen, heap + 3 * PAGE, HEAP_UNSURE, PAGE);
	CHECK(seen->found.reread > 0);
}

UNIT_TEST(refusals)
{
	static const struct version unknown = {15, 17, 25, 64};

	lay_heap(&unknown);
	CHECK(strstr(walk()->found.refusal, "no map of extents"));
	lay_heap(&versions[0]);
	stack[0][3].now.full += 8;
	stack[1][3].now.full += 8;
	CHECK(strstr(walk()->found.refusal, "caches of its threads"));
	lay_heap(&versions[0]);
	lay_extent(1, 1, 0, CLASS_32)->bits |= 1u << 14;
	CHECK(strstr(walk()->found.refusal, "huge pages"));
	CHECK_EQ(walk()->count, 0);
	memset(root, 0, sizeof(root));
	CHECK(strstr(walk()->found.refusal, "no map of extents"));
}

UNIT_MAIN()
