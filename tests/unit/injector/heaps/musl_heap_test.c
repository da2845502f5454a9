/* SPDX-License-Identifier: MIT */
/*
 * musl_heap: groups of slots that are laid out here as musl does it, found and walked in this very
 * process.
 */
#include <sys/mman.h>

#include "clock.h"
#include "heap.h"
#include "own_images.h"

#define PAGE 4096u
#define UNIT 16u
#define PIECES_MAX 64u

/* struct malloc_context, in the data of the program. */
struct context {
	uint64_t secret;
	uint32_t is_initialized, mapped;
	uint64_t free_meta, unused, unused_count, unused_areas, shift, head, tail;
	uint64_t rest[107];
};
_Static_assert(sizeof(struct context) == 928, "the size of musl's struct malloc_context");

struct meta {
	uint64_t previous, next, group;
	uint32_t available, freed;
	uint64_t bits;
};

struct area {
	uint64_t secret, next;
	uint32_t count, padding;
	struct meta meta[101];
};

static struct context context __attribute__((aligned(16)));
static struct area *area;

struct seen {
	struct heap_piece piece[PIECES_MAX];
	unsigned count;
	struct heap_unit unit; /* the last one */
	unsigned units;
	struct heap_found found;
};

static uint8_t *pages(size_t count)
{
	uint8_t *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void lay_context_with(uint8_t *page)
{
	area = (struct area *)(void *)page;
	*area = (struct area){.secret = 0x5eedf00d12345678, .count = 101};
	context = (struct context){.secret = area->secret,
				   .is_initialized = 1,
				   .unused = address_of(area->meta),
				   .unused_count = 101,
				   .head = address_of(area),
				   .tail = address_of(area)};
}

static void lay_context(void)
{
	lay_context_with(pages(1));
}

static struct meta *lay_meta(uint8_t *group, unsigned last, unsigned size_class, uint64_t mapped)
{
	struct meta *meta = &area->meta[101 - context.unused_count];
	const uint64_t self = address_of(meta);

	context.unused_count--;
	context.unused += sizeof(*meta);
	*meta = (struct meta){.group = address_of(group),
			      .bits = last | 1u << 5 | size_class << 6 | mapped << 12};
	memcpy(group, &self, sizeof(self));
	return meta;
}

/* The head of the block, `reserved` bytes of whose slot were not asked for. */
static void lay_block(uint8_t *group, uint8_t *block, unsigned index, unsigned reserved)
{
	const uint16_t units = (uint16_t)((block - group - UNIT) / UNIT);

	memcpy(block - 2, &units, sizeof(units));
	block[-3] = (uint8_t)(index | (reserved < 5 ? reserved : 5) << 5);
}

static void lay_reserved(uint8_t *end, uint32_t reserved)
{
	memcpy(end - 4, &reserved, sizeof(reserved));
}

static int see(void *of, const struct heap_piece *piece)
{
	struct seen *seen = of;

	CHECK(seen->count < PIECES_MAX);
	seen->piece[seen->count++] = *piece;
	return 0;
}

static int see_unit(void *of, const struct heap_unit *unit)
{
	struct seen *seen = of;

	seen->unit = *unit;
	seen->units++;
	return 0;
}

/* The mapping with `at`, and all behind it, becomes one that ends there. */
static void reach_to(struct maps *maps, const uint8_t *at, remote_addr end)
{
	const struct mapping *mapping = maps_find(maps, address_of(at));

	maps->count = (size_t)(mapping - maps->mapping) + 1;
	maps->mapping[maps->count - 1].hi = end;
}

/* end: of the mapping with `at`, as if the program had that much; NULL, 0: as it is. */
static struct seen walk_to(const uint8_t *at, remote_addr end)
{
	static struct seen seen;
	const struct heap_visitor visitor = {.piece = see, .unit = see_unit, .context = &seen};
	struct own own = own_open();
	struct pages resident = {.fd = -1};
	struct heap_source source = {
		.memory = &own.memory,
		.maps = &own.maps,
		.images = &own.images,
		.pages = &resident,
		.deadline_ns = clock_now_ns() + UNIT_PATIENCE_MS * 1000000ull,
	};

	seen = (struct seen){.count = 0};
	if (at) /* what is resident is not asked: scanning all these addresses takes too long */
		reach_to(&own.maps, at, end);
	else
		pages_open(&resident, getpid(), getpid());
	CHECK_EQ(musl_heap_walk(&source, own_image(&own, "musl_heap_test"), &visitor, &seen.found),
		 0);
	pages_close(&resident);
	own_close(&own);
	return seen;
}

static struct seen walk(void)
{
	return walk_to(NULL, 0);
}

static const struct heap_piece *piece_of(const struct seen *seen, const uint8_t *block)
{
	for (unsigned i = 0; i < seen->count; i++)
		if (seen->piece[i].address == address_of(block))
			return &seen->piece[i];
	UNIT_FAIL("no piece");
}

static void check_piece(const struct seen *seen, const uint8_t *block, enum heap_kind kind,
			uint64_t bytes)
{
	const struct heap_piece *piece = piece_of(seen, block);

	CHECK_EQ(piece->kind, kind);
	CHECK_EQ(piece->bytes, bytes);
}

/* All pieces together are all that was mapped, once. */
static void check_bytes(const struct seen *seen, uint64_t bytes)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < seen->count; i++)
		sum += seen->piece[i].head_bytes + seen->piece[i].bytes + seen->piece[i].tail_bytes;
	CHECK_EQ(sum, bytes);
	CHECK_STR(seen->found.refusal, "");
}

/* Class 27: slots of 255 units. The first is used, the second free, the third moved. */
UNIT_TEST(slots)
{
	const uint64_t stride = 255 * UNIT;
	uint8_t *group = pages(3), *first = group + UNIT, *third = first + 2 * stride;
	const uint16_t moved = 7;

	lay_context();
	lay_meta(group, 2, 27, 3)->freed = 2;
	lay_block(group, first, 0, 3);
	third[-3] = 7 << 5;
	memcpy(third - 2, &moved, sizeof(moved));
	lay_block(group, third + moved * UNIT, 2, 100);
	lay_reserved(third + stride - 4, 100);
	const struct seen seen = walk();

	check_piece(&seen, first, HEAP_USED, stride - 4 - 3);
	check_piece(&seen, first + stride, HEAP_FREE, stride - 4);
	check_piece(&seen, third + moved * UNIT, HEAP_USED, stride - 4 - moved * UNIT - 100);
	CHECK_EQ(piece_of(&seen, third + moved * UNIT)->head_bytes, moved * UNIT + 4);
	check_bytes(&seen, 4 * PAGE);
}

/* A group of ten slots of 32 bytes lies in one of the slots. */
UNIT_TEST(group_in_a_slot)
{
	const uint64_t stride = 255 * UNIT;
	uint8_t *group = pages(3), *inner = group + UNIT + stride;

	lay_context();
	lay_meta(group, 2, 27, 3)->freed = 5;
	lay_meta(inner, 9, 1, 0)->available = 0x3fe;
	lay_block(group, inner, 1, 0);
	inner[-3] = 1 | 6 << 5;
	lay_block(inner, inner + UNIT, 0, 0);
	const struct seen seen = walk();

	check_piece(&seen, inner + UNIT, HEAP_USED, 28);
	check_piece(&seen, inner + UNIT + 32, HEAP_FREE, 28);
	CHECK_EQ(seen.units, 1);
	CHECK(seen.unit.is_whole && seen.unit.lo == address_of(group));
	CHECK_EQ(seen.unit.hi - seen.unit.lo, 3 * PAGE);
	check_bytes(&seen, 4 * PAGE);
}

/* One block with a mapping of its own, aligned to more than 16 bits of units can say. */
UNIT_TEST(mapped_block)
{
	const size_t count = 600;
	uint8_t *group = pages(count), *end = group + count * PAGE - 4;
	const uint32_t units = 65536 + 5;
	uint8_t *block = group + UNIT + units * UNIT;
	const uint16_t low = (uint16_t)units;

	lay_context();
	lay_meta(group, 0, 63, count);
	group[UNIT - 3] = 7 << 5;
	memcpy(group + UNIT - 2, &low, sizeof(low));
	memcpy(block - 8, &units, sizeof(units));
	block[-4] = 1;
	block[-3] = 5 << 5;
	lay_reserved(end, 1000);
	const struct seen seen = walk();

	check_piece(&seen, block, HEAP_USED, (uint64_t)(end - block) - 1000);
	CHECK_EQ(piece_of(&seen, block)->tail_bytes, 1000);
	check_bytes(&seen, (count + 1) * PAGE);
}

/*
 * A block may have most of the addresses that there are, of which kernels have up to 52 bits. Here
 * only its first pages are mapped: nothing at its end says how much of it was asked for.
 */
UNIT_TEST(block_of_most_addresses)
{
	for (unsigned bits = 49; bits <= 52; bits++) {
		uint8_t *first = pages(4), *group = first + PAGE; /* below 2^48 */
		const uint64_t bytes = (1ull << bits) - (1ull << 48);

		lay_context_with(first);
		lay_meta(group, 0, 63, bytes / PAGE);
		const struct seen seen = walk_to(group, 1ull << bits);

		check_piece(&seen, group + UNIT - 4, HEAP_UNSURE, bytes - UNIT);
		CHECK_EQ(seen.unit.lo, address_of(group));
		CHECK_EQ(seen.unit.hi - seen.unit.lo, bytes);
		/* more than there is: it is no group */
		const struct seen fewer = walk_to(group, (1ull << 48) + PAGE);

		CHECK_EQ(fewer.count, 1);
	}
}

/* What does not agree is unsure, and only that. */
UNIT_TEST(damaged_slot)
{
	const uint64_t stride = 255 * UNIT;
	uint8_t *group = pages(3), *first = group + UNIT;

	lay_context();
	lay_meta(group, 2, 27, 3);
	for (unsigned i = 0; i < 3; i++)
		lay_block(group, first + i * stride, i, 0);
	first[stride - 3] ^= 1;
	const struct seen seen = walk();

	check_piece(&seen, first, HEAP_USED, stride - 4);
	check_piece(&seen, first + stride - 4, HEAP_UNSURE, stride);
	check_piece(&seen, first + 2 * stride, HEAP_USED, stride - 4);
	CHECK(seen.found.reread > 0);
	check_bytes(&seen, 4 * PAGE);
}

/* Areas that do not repeat the secret are not believed. */
UNIT_TEST(list_of_areas)
{
	struct area *second = (struct area *)(void *)pages(1);

	lay_context();
	*second = *area;
	area->next = address_of(second);
	context.tail = address_of(second);
	context.unused = address_of(second->meta);
	CHECK_EQ(walk().count, 2);
	second->secret++;
	CHECK(strstr(walk().found.refusal, "no area of metas"));
	*second = *area; /* a ring */
	CHECK(strstr(walk().found.refusal, "without an end"));
}

UNIT_MAIN()
