/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_heap: spans, lists and caches that are laid out here as gperftools does it, found and
 * walked in this very process.
 */
#include <errno.h>

#include "heap_pieces.h"

#define PAGE 8192u
#define CLASSES 40u
#define ROOT_WORDS (1u << 17)
#define LEAF_BITS 18u

/* The end of class SizeMap; before gperftools 2.11 without the word before the number. */
static struct sizes {
	int32_t size[128];
	uint64_t pages[128];
	uint64_t smallest, count;
} sizes;

struct span {
	uint64_t page, pages;
	struct span *next, *previous;
	void *objects;
	uint16_t used;
	uint8_t size_class, flags;
};

/* class CentralFreeList */
static struct central {
	uint64_t lock, size_class;
	struct span empty, nonempty;
	uint64_t spans, objects;
	void *slot[64][2];
	int32_t slots_used, slots, slots_max;
	uint8_t padding[52];
} central[128];
_Static_assert(sizeof(struct central) == 1216, "the size of gperftools' central lists");

/* The map, and the function that follows it. */
static struct map {
	uint64_t **root[ROOT_WORDS];
	void (*allocate)(void);
} map;

/* class ThreadCache */
struct cache {
	struct {
		void *first;
		uint32_t length, rest[3];
		int32_t bytes;
	} list[128];
	uint8_t others[48];
	struct cache *next, *previous;
};
static struct cache *caches; /* the first one */

static uint8_t *heap;       /* pages 0 to 15 */
static struct span *span;   /* one for each page of it */
static uint8_t *own_memory; /* from where descriptors and caches are taken */

static void allocate(void)
{
}

static void *own_bytes(size_t size)
{
	void *at = own_memory;

	own_memory += (size + 63) / 64 * 64;
	return at;
}

static uint64_t page_of(unsigned page)
{
	return address_of(heap) / PAGE + page;
}

static void lay_sizes(bool is_old)
{
	sizes = (struct sizes){.smallest = is_old ? CLASSES : 1, .count = is_old ? 0 : CLASSES};
	for (unsigned i = 1; i < CLASSES; i++) {
		sizes.size[i] = i == 1 ? 8 : (int32_t)(i - 1) * 1000;
		sizes.pages[i] = 1 + (uint64_t)sizes.size[i] / PAGE;
	}
}

static void lay_central(void)
{
	memset(central, 0, sizeof(central));
	for (unsigned i = 0; i < CLASSES; i++) {
		struct central *list = &central[i];

		list->size_class = i;
		list->empty.next = list->empty.previous = &list->empty;
		list->nonempty.next = list->nonempty.previous = &list->nonempty;
	}
}

static struct span *lay_span(unsigned page, unsigned pages, unsigned size_class, unsigned location)
{
	const uint64_t number = page_of(page);
	uint64_t **leaf = map.root[number >> LEAF_BITS];

	span[page] = (struct span){.page = number,
				   .pages = pages,
				   .size_class = (uint8_t)size_class,
				   .flags = (uint8_t)location};
	leaf[number % (1u << LEAF_BITS)] = (uint64_t *)(void *)&span[page];
	leaf[(number + pages - 1) % (1u << LEAF_BITS)] = (uint64_t *)(void *)&span[page];
	return &span[page];
}

static struct cache *lay_cache(void)
{
	struct cache *cache = own_bytes(sizeof(*cache));

	memset(cache, 0, sizeof(*cache));
	for (unsigned i = 0; i < CLASSES; i++)
		cache->list[i].bytes = sizes.size[i];
	cache->next = caches;
	if (caches)
		caches->previous = cache;
	caches = cache;
	return cache;
}

/* In the span of page 0 are eight objects of 1000 bytes. */
static uint8_t *object(unsigned index)
{
	return heap + (size_t)index * 1000;
}

static void chain(void *from, void *to)
{
	memcpy(from, &to, sizeof(to));
}

/* A span of objects that is in the list of those with free ones. */
static void lay_heap(void)
{
	struct span *objects, *header = &central[2].nonempty;

	caches = NULL;
	own_memory = heap_memory(8u << 20, 64);
	heap = heap_memory(16 * PAGE, 16 * PAGE);
	span = own_bytes(16 * sizeof(*span));
	map.allocate = allocate;
	map.root[page_of(0) >> LEAF_BITS] = own_bytes(sizeof(uint64_t) << LEAF_BITS);
	lay_sizes(false);
	lay_central();
	lay_cache();
	objects = lay_span(0, 1, 2, 0);
	objects->next = objects->previous = header;
	header->next = header->previous = objects;
	objects->objects = object(1);
	objects->used = 6;
	chain(object(1), object(5));
	chain(object(5), NULL);
}

static const struct seen *walk(void)
{
	return heap_pieces(tcmalloc_heap_walk, "tcmalloc_heap_test");
}

static const struct seen *walk_well(void)
{
	const struct seen *seen = walk();

	CHECK_EQ(seen->err, 0);
	CHECK_STR(seen->found.refusal, "");
	return seen;
}

UNIT_TEST(objects)
{
	lay_heap();
	const struct seen *seen = walk_well();

	for (unsigned i = 0; i < 8; i++)
		check_piece(seen, object(i), i == 1 || i == 5 ? HEAP_FREE : HEAP_USED, 1000);
	check_piece(seen, object(8), HEAP_FREE, PAGE - 8000);
	CHECK(is_whole_unit(seen, heap, heap + PAGE));
	CHECK_EQ(seen->trimmables, 0);
}

/* In caches of three threads, two of them found through the third, and in a transfer cache. */
UNIT_TEST(cached_objects)
{
	lay_heap();
	struct cache *first = caches, *middle = lay_cache(), *second = lay_cache();

	caches = middle; /* a variable leads to that alone */
	second->list[2].first = object(2);
	second->list[2].length = 1;
	chain(object(2), NULL);
	first->list[2].first = object(7);
	first->list[2].length = 2;
	chain(object(7), object(0));
	chain(object(0), NULL);
	central[2].slot[0][0] = central[2].slot[0][1] = object(4);
	chain(object(4), NULL);
	central[2].slots_used = 1;
	const struct seen *seen = walk_well();

	for (unsigned i = 0; i < 8; i++)
		check_piece(seen, object(i),
			    i == 1 || i == 5   ? HEAP_FREE
			    : i == 3 || i == 6 ? HEAP_USED
					       : HEAP_CACHED,
			    1000);
}

/* A chain that is shorter than its cache says is not believed. */
UNIT_TEST(unsure_cache)
{
	lay_heap();
	caches->list[2].first = object(7);
	caches->list[2].length = 2;
	chain(object(7), NULL);
	const struct seen *seen = walk_well();

	check_piece(seen, object(7), HEAP_UNSURE, 1000);
	check_piece(seen, object(6), HEAP_USED, 1000);
	CHECK(seen->found.reread > 0);
}

UNIT_TEST(whole_pages)
{
	lay_heap();
	lay_span(1, 3, 0, 0);
	lay_span(4, 2, 0, 1);
	lay_span(6, 10, 7, 2);
	const struct seen *seen = walk_well();

	check_piece(seen, heap + PAGE, HEAP_USED, 3 * PAGE);
	CHECK(is_whole_unit(seen, heap + PAGE, heap + 4 * PAGE));
	CHECK_EQ(seen->units, 2);
	check_piece(seen, heap + 4 * PAGE, HEAP_FREE, 2 * PAGE);
	check_piece(seen, heap + 6 * PAGE, HEAP_FREE, 10 * PAGE);
	CHECK_EQ(seen->trimmables, 1);
	CHECK(is_trimmable(seen, heap + 4 * PAGE));
}

/* The number of used objects does not agree with the chain, or the chain is a ring. */
UNIT_TEST(damaged_span)
{
	lay_heap();
	span[0].used = 5;
	check_piece(walk_well(), heap, HEAP_UNSURE, PAGE);
	span[0].used = 6;
	chain(object(5), object(1));
	check_piece(walk_well(), heap, HEAP_UNSURE, PAGE);
	chain(object(5), object(3) + 8);
	check_piece(walk_well(), heap, HEAP_UNSURE, PAGE);
}

/* The map leads to what is no span; what comes after it is found again. */
UNIT_TEST(damaged_map)
{
	lay_heap();
	lay_span(1, 1, 0, 0)->page++;
	lay_span(2, 1, 0, 0);
	const struct seen *seen = walk_well();

	check_piece(seen, heap + PAGE, HEAP_UNSURE, PAGE);
	check_piece(seen, heap + 2 * PAGE, HEAP_USED, PAGE);
}

/* A span says that it is where no address leads: multiplied, its page is that of the heap. */
UNIT_TEST(a_span_outside_of_the_map)
{
	lay_heap();
	span[0].page |= 1ull << 51;
	CHECK(strstr(walk()->found.refusal, "no map of pages"));
}

UNIT_TEST(versions)
{
	lay_heap();
	lay_sizes(true);
	check_piece(walk_well(), object(1), HEAP_FREE, 1000);
	lay_sizes(false);
	central[1].size_class = 3;
	CHECK(strstr(walk()->found.refusal, "no central lists"));
	central[1].size_class = 1;
	map.allocate = NULL;
	CHECK(strstr(walk()->found.refusal, "no map of pages"));
	map.allocate = allocate;
	caches->list[9].bytes++;
	CHECK(strstr(walk()->found.refusal, "no caches of threads"));
	CHECK_EQ(walk()->count, 0);
	sizes.count = 0;
	CHECK_EQ(walk()->err, -ENOENT);
}

UNIT_MAIN()
