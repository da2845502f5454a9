/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_heap: segments that are laid out here as several releases of mimalloc do it, found and
 * walked in this very process.
 */
#include <sys/mman.h>

#include "clock.h"
#include "heap.h"
#include "own_images.h"

#define SEGMENT_BYTES (32u << 20)
#define SLICE_BYTES 65536u
#define SLICES 512u
#define TABLE 264u
#define BLOCK_BYTES 64u
#define CAPACITY 10u
#define PIECES_MAX 64u
#define COOKIE 0x1c00f1e5deadbeefu
#define QUEUES 75u

/* struct mi_heap_s of mimalloc 2.0, in the data of the program. */
static struct {
	uint64_t thread_data, direct[129];
	struct {
		uint64_t first, last, bytes;
	} queue[QUEUES];
	uint64_t delayed, thread, arena, cookie, key[2];
} main_heap;

struct layout {
	uint32_t entry_bytes;
	uint32_t local_free_at, used_at, used_bytes, size_at, size_bytes, start_at, key_at, rest_at;
	uint32_t start; /* of the blocks of a page */
};

static const struct layout plain = {80, 32, 24, 4, 28, 4, 0, 0, 40, 384};
static const struct layout keyed = {96, 32, 24, 4, 28, 4, 0, 40, 56, 384};
static const struct layout python = {96, 32, 24, 4, 28, 4, 0, 0, 40, 192};
static const struct layout with_start = {96, 24, 32, 2, 40, 8, 48, 0, 56, 192};

static const struct layout *layout;
static uint8_t *segment;
static const uint64_t key[2] = {0x123456789abcdef1, 0xfedcba9876543210};

struct seen {
	struct heap_piece piece[PIECES_MAX];
	unsigned count;
	uint64_t trimmable;
	uint64_t unit_bytes; /* that go back as a whole */
	struct heap_found found;
};

static void write_number(uint8_t *at, uint64_t number, size_t bytes)
{
	memcpy(at, &number, bytes);
}

static void lay_heap(void)
{
	static const uint16_t bytes[] = {8, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160};

	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		main_heap.queue[i].bytes = bytes[i];
	main_heap.cookie = COOKIE;
	main_heap.thread = 0x7000;
}

static uint8_t *entry(unsigned slice)
{
	return segment + TABLE + (size_t)slice * layout->entry_bytes;
}

static void lay_span(unsigned slice, unsigned count)
{
	write_number(entry(slice), count, 4);
}

static void lay_segment(const struct layout *of)
{
	uint8_t *at = mmap(NULL, 2ul * SEGMENT_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(at != MAP_FAILED);
	layout = of;
	segment = at + (-(uintptr_t)at & (SEGMENT_BYTES - 1));
	write_number(segment + 208, 1, 8); /* pages in use */
	write_number(segment + 216, address_of(segment) ^ COOKIE, 8);
	write_number(segment + 224, SLICES, 8);
	write_number(segment + 232, 1, 8);
	write_number(segment + 248, SLICES, 8);
	write_number(segment + 256, main_heap.thread, 8);
	lay_span(0, 1);
	write_number(entry(0) + layout->size_at, SLICE_BYTES, 4);
	lay_span(1, 1); /* the page */
	lay_span(2, SLICES - 2);
}

static uint8_t *block(unsigned index)
{
	return segment + SLICE_BYTES + layout->start + (size_t)index * BLOCK_BYTES;
}

static uint64_t mixed(const uint8_t *next)
{
	const uint64_t at = (next ? address_of(next) : address_of(entry(1))) ^ key[1];
	const unsigned shift = key[0] % 64;

	return layout->key_at ? (at << shift | at >> (64 - shift)) + key[0]
	       : next         ? address_of(next)
			      : 0;
}

static void lay_list(uint32_t at, unsigned first, unsigned second)
{
	write_number(entry(1) + at, address_of(block(first)), 8);
	write_number(block(first), mixed(block(second)), 8);
	write_number(block(second), mixed(NULL), 8);
}

/* Ten blocks: 1 and 3 are free, 2 and 5 were freed by the thread, 4 and 7 by another one. */
static void lay_page(void)
{
	uint8_t *at = entry(1);

	write_number(at + 10, CAPACITY, 2);
	write_number(at + 12, (SLICE_BYTES - layout->start) / BLOCK_BYTES, 2);
	write_number(at + layout->used_at, CAPACITY - 4, layout->used_bytes);
	write_number(at + layout->size_at, BLOCK_BYTES, layout->size_bytes);
	if (layout->start_at)
		write_number(at + layout->start_at, address_of(block(0)), 8);
	if (layout->key_at)
		memcpy(at + layout->key_at, key, sizeof(key));
	lay_list(16, 3, 1);
	lay_list(layout->local_free_at, 2, 5);
	lay_list(layout->rest_at, 7, 4);
	at[layout->rest_at] |= 2;
	write_number(at + layout->rest_at + 8, address_of(&main_heap), 8);
}

static int see(void *of, const struct heap_piece *piece)
{
	struct seen *seen = of;

	CHECK(seen->count < PIECES_MAX);
	seen->piece[seen->count++] = *piece;
	return 0;
}

static int see_trimmable(void *of, remote_addr lo, remote_addr hi)
{
	struct seen *seen = of;

	seen->trimmable += hi - lo;
	return 0;
}

static int see_unit(void *of, const struct heap_unit *unit)
{
	struct seen *seen = of;

	seen->unit_bytes += unit->is_whole ? unit->hi - unit->lo : 0;
	return 0;
}

static const struct seen *walk(void)
{
	static struct seen seen;
	const struct heap_visitor visitor = {see, see_trimmable, see_unit, &seen};
	struct own own = own_open();
	struct pages resident;
	struct heap_source source = {
		.memory = &own.memory,
		.maps = &own.maps,
		.images = &own.images,
		.pages = &resident,
		.deadline_ns = clock_now_ns() + UNIT_PATIENCE_MS * 1000000ull,
	};

	seen = (struct seen){.count = 0};
	pages_open(&resident, getpid(), getpid());
	CHECK_EQ(mimalloc_heap_walk(&source, own_image(&own, "mimalloc_heap_test"), &visitor,
				    &seen.found),
		 0);
	pages_close(&resident);
	own_close(&own);
	return &seen;
}

static const struct heap_piece *piece_at(const struct seen *seen, const uint8_t *at)
{
	for (unsigned i = 0; i < seen->count; i++)
		if (seen->piece[i].address == address_of(at))
			return &seen->piece[i];
	UNIT_FAIL("no piece");
}

/* free: bit n for block n. All pieces together are the segment, once. */
static void check_blocks(const struct seen *seen, unsigned free)
{
	uint64_t bytes = 0;

	CHECK_STR(seen->found.refusal, "");
	for (unsigned i = 0; i < CAPACITY; i++) {
		const struct heap_piece *piece = piece_at(seen, block(i));

		CHECK_EQ(piece->kind, free >> i & 1 ? HEAP_FREE : HEAP_USED);
		CHECK_EQ(piece->bytes, BLOCK_BYTES);
	}
	for (unsigned i = 0; i < seen->count; i++)
		bytes += seen->piece[i].bytes;
	CHECK_EQ(bytes, SEGMENT_BYTES);
}

static void check_release(const struct layout *of, const char *name)
{
	lay_heap();
	lay_segment(of);
	lay_page();
	const struct seen *seen = walk();

	check_blocks(seen, 0xbe);
	CHECK_STR(seen->found.name, name);
}

UNIT_TEST(release_2_0)
{
	check_release(&plain, "mimalloc 2.0");
}

UNIT_TEST(release_2_0_secure)
{
	check_release(&keyed, "mimalloc 2.0");
}

/* CPython has a copy with larger pages. */
UNIT_TEST(release_2_1_of_python)
{
	check_release(&python, "mimalloc 2.1");
}

UNIT_TEST(release_2_1_with_starts)
{
	check_release(&with_start, "mimalloc 2.1 or later");
}

/* A block that another thread has freed, which only the heap lists. */
UNIT_TEST(delayed_block)
{
	lay_heap();
	lay_segment(&plain);
	lay_page();
	main_heap.delayed = address_of(block(9));
	check_blocks(walk(), 0x2be);
}

/* A list that leads out of the page, in a circle, or does not agree with the counts. */
UNIT_TEST(damaged_lists)
{
	lay_heap();
	lay_segment(&plain);
	lay_page();
	write_number(block(1), address_of(block(1)) + 8, 8);
	CHECK_EQ(piece_at(walk(), block(0))->kind, HEAP_UNSURE);
	write_number(block(1), address_of(block(3)), 8);
	CHECK_EQ(piece_at(walk(), block(0))->bytes, CAPACITY * BLOCK_BYTES);
	write_number(block(1), address_of(block(8)), 8);
	CHECK_EQ(piece_at(walk(), block(0))->kind, HEAP_UNSURE);
	CHECK(walk()->found.reread > 0);
	write_number(block(1), 0, 8);
	check_blocks(walk(), 0xbe);
}

/* A page of one large block. */
static void lay_large(unsigned slice, unsigned count)
{
	lay_span(slice, count);
	write_number(entry(slice) + 10, 1 | 1u << 16, 4);
	write_number(entry(slice) + layout->used_at, 1, layout->used_bytes);
	write_number(entry(slice) + layout->size_at, (uint64_t)count * SLICE_BYTES,
		     layout->size_bytes);
}

/* All blocks of the first page are free. */
static void free_page(void)
{
	write_number(entry(1) + 10, 2, 2);
	write_number(entry(1) + layout->used_at, 0, layout->used_bytes);
	lay_list(16, 0, 1);
	write_number(entry(1) + layout->local_free_at, 0, 8);
	write_number(entry(1) + layout->rest_at, 0, 8);
}

/*
 * Slices that are due to go back do so if a page of the segment is freed meanwhile; all of a
 * segment, if none is left.
 */
UNIT_TEST(trimmable)
{
	lay_heap();
	lay_segment(&plain);
	lay_page();
	lay_large(2, 4);
	lay_span(6, SLICES - 6);
	write_number(segment + 208, 2, 8);
	memset(segment + 112, 0xff, 64); /* committed */
	write_number(segment + 40, 1, 8);
	write_number(segment + 48, 0xf00, 8);
	CHECK_EQ(walk()->trimmable, 0);
	CHECK_EQ(walk()->unit_bytes, 5 * SLICE_BYTES);
	free_page();
	CHECK_EQ(walk()->trimmable, 5 * SLICE_BYTES);
	/* the next page, of which nothing is used either, is freed later, and comes too late */
	write_number(entry(2) + 10, 0, 2);
	write_number(entry(2) + layout->used_at, 0, layout->used_bytes);
	write_number(segment + 208, 3, 8);
	CHECK_EQ(walk()->trimmable, 5 * SLICE_BYTES);
	lay_large(2, 4);
	write_number(segment + 208, 2, 8);
	main_heap.thread++; /* it is another thread's */
	CHECK_EQ(walk()->trimmable, 0);
	main_heap.thread--;
	write_number(segment + 208, 1, 8);
	CHECK_EQ(walk()->trimmable, SEGMENT_BYTES);
	write_number(segment + 208, 0, 8); /* kept for later */
	CHECK_EQ(walk()->trimmable, SEGMENT_BYTES);
	CHECK_EQ(piece_at(walk(), segment)->kind, HEAP_FREE);
}

/* What is no segment, or of another allocator. */
UNIT_TEST(not_believed)
{
	lay_heap();
	lay_segment(&plain);
	lay_page();
	segment[216] ^= 1;
	main_heap.queue[3].first = 1;
	CHECK(strstr(walk()->found.refusal, "no segments"));
	segment[216] ^= 1;
	lay_span(2, SLICES - 3);
	CHECK(strstr(walk()->found.refusal, "laid out"));
	main_heap.queue[3].bytes++;
	CHECK(strstr(walk()->found.refusal, "heap was not found"));
}

UNIT_MAIN()
