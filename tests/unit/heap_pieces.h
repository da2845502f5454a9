/* SPDX-License-Identifier: MIT */
/*
 * heap_pieces.h - what a reader of heaps says of structures that a test has laid out in its own
 * process.
 */
#ifndef HI_HEAP_PIECES_H
#define HI_HEAP_PIECES_H

#include <sys/mman.h>

#include "clock.h"
#include "heap.h"
#include "own_images.h"

#define PIECES_MAX 4096u

struct seen {
	struct heap_piece piece[PIECES_MAX];
	unsigned count;
	remote_addr trimmable[PIECES_MAX]; /* where such ranges begin */
	unsigned trimmables;
	struct heap_unit unit[PIECES_MAX];
	unsigned units;
	struct heap_found found;
	int err;
};

static inline int see_piece(void *of, const struct heap_piece *piece)
{
	struct seen *seen = of;

	CHECK(seen->count < PIECES_MAX);
	seen->piece[seen->count++] = *piece;
	return 0;
}

static inline int see_trimmable(void *of, remote_addr lo, remote_addr hi)
{
	struct seen *seen = of;

	CHECK(lo < hi && seen->trimmables < PIECES_MAX);
	seen->trimmable[seen->trimmables++] = lo;
	return 0;
}

static inline int see_unit(void *of, const struct heap_unit *unit)
{
	struct seen *seen = of;

	CHECK(unit->lo < unit->hi && seen->units < PIECES_MAX);
	seen->unit[seen->units++] = *unit;
	return 0;
}

/* Walks the allocator in the test's program, whose path contains `part`. */
static inline const struct seen *heap_pieces(heap_reader *reader, const char *part)
{
	static struct seen seen;
	const struct heap_visitor visitor = {
		.piece = see_piece, .trimmable = see_trimmable, .unit = see_unit, .context = &seen};
	struct own own = own_open();
	struct pages resident;
	struct heap_source source = {
		.memory = &own.memory,
		.maps = &own.maps,
		.images = &own.images,
		.pages = &resident,
		.deadline_ns = clock_now_ns() + UNIT_PATIENCE_MS * 1000000ull,
	};

	memset(&seen, 0, sizeof(seen));
	pages_open(&resident, getpid(), getpid());
	seen.err = reader(&source, own_image(&own, part), &visitor, &seen.found);
	pages_close(&resident);
	own_close(&own);
	return &seen;
}

/* So many bytes, and aligned to that. */
static inline uint8_t *heap_memory(size_t size, size_t alignment)
{
	uint8_t *at = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at + (alignment - address_of(at) % alignment) % alignment;
}

static inline const struct heap_piece *piece_at(const struct seen *seen, const void *block)
{
	for (unsigned i = 0; i < seen->count; i++)
		if (seen->piece[i].address == address_of(block))
			return &seen->piece[i];
	UNIT_FAIL("no piece");
}

static inline void check_piece(const struct seen *seen, const void *block, enum heap_kind kind,
			       uint64_t bytes)
{
	const struct heap_piece *piece = piece_at(seen, block);

	CHECK_EQ(piece->kind, kind);
	CHECK_EQ(piece->bytes, bytes);
}

/* Is [lo, hi) a unit that goes back as a whole? */
static inline bool is_whole_unit(const struct seen *seen, const void *lo, const void *hi)
{
	for (unsigned i = 0; i < seen->units; i++)
		if (seen->unit[i].lo == address_of(lo) && seen->unit[i].hi == address_of(hi))
			return seen->unit[i].is_whole;
	return false;
}

static inline bool is_trimmable(const struct seen *seen, const void *at)
{
	for (unsigned i = 0; i < seen->trimmables; i++)
		if (seen->trimmable[i] == address_of(at))
			return true;
	return false;
}

#endif
