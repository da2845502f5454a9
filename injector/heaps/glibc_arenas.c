/* SPDX-License-Identifier: MIT */
/*
 * glibc_arenas.c - see glibc_arenas.h. The layout is that of struct heap_info in malloc/arena.c of
 * glibc.
 */
#include "glibc_arenas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glibc_first.h"
#include "glibc_state.h"
#include "glibc_version.h"
#include "heap_bytes.h"
#include "hi_page.h"
#include "steps.h"

/* struct heap_info: glibc 2.35 made it larger */
#define INFO_PREVIOUS 8u
#define INFO_SIZE 16u
#define INFO_BYTES_OLD 0x20u
#define INFO_BYTES 0x30u

#define ARENAS_MAX 65536u
#define TRIES 8u
#define TOP_TRIES 100u
#define STEPS_MAX (16u << 20)

struct finder {
	const struct heap_source *source;
	struct glibc_arenas *arenas;
	char *refusal;
	uint8_t state[GLIBC_STATE_BYTES]; /* of the arena at hand */
	struct glibc_numbers numbers;
	struct steps steps;
};

static remote_addr chunk_from(remote_addr at)
{
	return (at + GLIBC_CHUNK_TO_BLOCK + GLIBC_ALIGNMENT - 1) / GLIBC_ALIGNMENT *
		       GLIBC_ALIGNMENT -
	       GLIBC_CHUNK_TO_BLOCK;
}

/* ---- regions --------------------------------------------------------------------------------- */

static int add_region(struct glibc_arenas *arenas, const struct glibc_region *region)
{
	if (arenas->region_count == arenas->region_room) {
		const size_t room = arenas->region_room ? 2 * arenas->region_room : 16;
		struct glibc_region *grown = realloc(arenas->region, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		arenas->region = grown;
		arenas->region_room = room;
	}
	arenas->region[arenas->region_count++] = *region;
	return 0;
}

const struct glibc_region *glibc_arenas_region(const struct glibc_arenas *arenas, remote_addr at)
{
	size_t low = 0, high = arenas->region_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (arenas->region[middle].hi <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < arenas->region_count && arenas->region[low].lo <= at ? &arenas->region[low]
									  : NULL;
}

static int refuse(struct finder *finder, const char *what, remote_addr at)
{
	snprintf(finder->refusal, HEAP_TEXT_MAX, "%s at 0x%llx", what, (unsigned long long)at);
	return -EPROTO;
}

static int read_state(struct finder *finder, remote_addr arena)
{
	const int err = glibc_state_read(finder->source, arena, finder->state);

	return err == -EPROTO ? refuse(finder, "no arena", arena) : err;
}

/* By the state that is at hand. -EAGAIN: it is not the arena's any more. */
static int read_top(const struct finder *finder, remote_addr *out_top, remote_addr *out_end)
{
	const remote_addr top = glibc_word(finder->state + GLIBC_STATE_TOP);
	uint64_t size;
	const int err = heap_word(finder->source, top + GLIBC_WORD, &size);

	if (err)
		return err;
	size &= ~(uint64_t)GLIBC_FLAGS;
	if (size < GLIBC_FENCE_BYTES || top + size < top || (top + size) % hi_page_bytes())
		return -EAGAIN;
	*out_top = top;
	*out_end = top + size;
	return 0;
}

/*
 * Where the top of the arena ends: with a page. Each allocation from it moves it, and leaves a
 * block's bytes where its size was.
 */
static int top_end(struct finder *finder, remote_addr arena, remote_addr *out_top,
		   remote_addr *out_end)
{
	int err = read_top(finder, out_top, out_end);

	for (unsigned i = 0; err == -EAGAIN && i < TOP_TRIES; i++) {
		err = read_state(finder, arena);
		if (!err)
			err = read_top(finder, out_top, out_end);
	}
	if (err == -ENODATA)
		return refuse(finder, "the end is swapped out of the arena", arena);
	return err == -EAGAIN ? refuse(finder, "an end that is not understood of the arena", arena)
			      : err;
}

static int add_first(struct finder *finder, remote_addr arena, const struct glibc_region *heap)
{
	struct glibc_region region = {0};
	int err = top_end(finder, arena, &region.top, &region.hi);

	if (err)
		return err;
	region.lo = chunk_from(finder->numbers.sbrk_base ? finder->numbers.sbrk_base : heap->lo);
	region.metadata_lo = region.lo;
	if (region.lo > region.top)
		return refuse(finder, "the first arena begins after its end", region.top);
	return add_region(finder->arenas, &region);
}

/* The heaps of another arena are aligned to the most that they can grow to, with huge pages too. */
static uint64_t heap_bytes_max(const struct heap_source *source, remote_addr arena,
			       uint64_t *out_info_bytes)
{
	static const uint64_t most[] = {64u << 20, 8u << 20, 4ull << 30};

	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		const remote_addr heap = arena & ~(most[i] - 1);
		uint64_t owner;

		if (arena - heap != INFO_BYTES && arena - heap != INFO_BYTES_OLD)
			continue;
		if (heap_word(source, heap, &owner) || owner != arena)
			continue;
		*out_info_bytes = arena - heap;
		return most[i];
	}
	return 0;
}

static int add_heap(struct finder *finder, remote_addr arena, remote_addr heap, uint64_t info_bytes)
{
	struct glibc_region region = {.arena = finder->arenas->count, .metadata_lo = heap};
	remote_addr top, top_hi;
	uint64_t owner, size;
	int err = heap_word(finder->source, heap, &owner);

	if (!err)
		err = heap_word(finder->source, heap + INFO_SIZE, &size);
	if (!err)
		err = top_end(finder, arena, &top, &top_hi);
	if (err)
		return err == -ENODATA ? refuse(finder, "a swapped-out heap", heap) : err;
	if (owner != arena || size % hi_page_bytes() || size < info_bytes + GLIBC_STATE_BYTES)
		return refuse(finder, "a heap that is not of its arena,", heap);
	region.hi = heap + size;
	region.lo = chunk_from(arena - heap == info_bytes ? arena + GLIBC_STATE_BYTES
							  : heap + info_bytes);
	if (top >= region.lo && top < region.hi)
		region.top = top, region.hi = top_hi;
	return add_region(finder->arenas, &region);
}

static int add_heaps(struct finder *finder, remote_addr arena)
{
	uint64_t info_bytes = 0;
	const uint64_t most = heap_bytes_max(finder->source, arena, &info_bytes);
	remote_addr heap = glibc_word(finder->state + GLIBC_STATE_TOP) & ~(most - 1);
	int err = 0;

	if (!most)
		return refuse(finder, "an arena that is in no heap,", arena);
	while (heap && !err && steps_take(&finder->steps)) {
		err = add_heap(finder, arena, heap, info_bytes);
		if (!err)
			err = heap_word(finder->source, heap + INFO_PREVIOUS, &heap);
	}
	return err;
}

static int add_arena(struct finder *finder, remote_addr arena)
{
	struct glibc_arenas *arenas = finder->arenas;
	remote_addr *grown = realloc(arenas->arena, (arenas->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	arenas->arena = grown;
	grown[arenas->count++] = arena;
	return 0;
}

/* first: its state is at hand. */
static int add_arenas(struct finder *finder, remote_addr first, const struct glibc_region *heap)
{
	remote_addr arena = first;
	int err = add_first(finder, arena, heap);

	while (!err) {
		const remote_addr next = glibc_word(finder->state + GLIBC_STATE_NEXT);

		err = add_arena(finder, arena);
		if (err || next == first || finder->arenas->count >= ARENAS_MAX)
			break;
		arena = next;
		err = read_state(finder, arena);
		if (!err)
			err = add_heaps(finder, arena);
	}
	return err;
}

static int compare_regions(const void *a, const void *b)
{
	const struct glibc_region *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

static int sort_regions(struct finder *finder)
{
	struct glibc_arenas *arenas = finder->arenas;

	qsort(arenas->region, arenas->region_count, sizeof(arenas->region[0]), compare_regions);
	for (size_t i = 1; i < arenas->region_count; i++)
		if (arenas->region[i].metadata_lo < arenas->region[i - 1].hi)
			return refuse(finder, "two heaps in one place,", arenas->region[i].lo);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

/*
 * The mappings that end with the one of the first arena's top: after a fork the heap may go on in
 * one of its own. -ENOENT: nothing was allocated yet.
 */
static int find_heap(struct finder *finder, remote_addr first, struct glibc_region *out_heap)
{
	const remote_addr top = glibc_word(finder->state + GLIBC_STATE_TOP);
	const struct maps *maps = finder->source->maps;
	const struct mapping *mapping = maps_find(maps, top);

	/* it has grown since */
	for (size_t i = 0; i < maps->count && !mapping; i++)
		if (!strcmp(maps->mapping[i].path, "[heap]") && maps->mapping[i].lo < top &&
		    (i + 1 == maps->count || maps->mapping[i + 1].lo > top))
			mapping = &maps->mapping[i];
	if (top == first + GLIBC_STATE_BINS - GLIBC_BIN_TO_CHUNK)
		return -ENOENT;
	if (!mapping || !mapping->writable)
		return refuse(finder, "the end of the first arena is not mapped,", top);
	while (mapping > maps->mapping && mapping[-1].hi == mapping->lo && mapping[-1].writable &&
	       !mapping[-1].inode && !strcmp(mapping[-1].path, mapping->path))
		mapping--;
	*out_heap = (struct glibc_region){.lo = mapping->lo, .top = top};
	return 0;
}

static int find_all(struct finder *finder, const struct elf_image *image)
{
	struct heap_bytes *data = &finder->arenas->data;
	struct glibc_region heap = {0};
	remote_addr first;
	int err = glibc_first_find(finder->source, image, data, &first);

	if (!err)
		err = read_state(finder, first);
	if (!err)
		err = find_heap(finder, first, &heap);
	if (!err)
		finder->numbers = glibc_numbers_find(data, heap.lo, heap.top);
	if (!err)
		err = add_arenas(finder, first, &heap);
	if (!err)
		err = sort_regions(finder);
	finder->arenas->mapped_count = finder->numbers.mapped_count;
	return err;
}

static int find_once(const struct heap_source *source, const struct elf_image *image,
		     struct glibc_arenas *out_arenas, char out_refusal[HEAP_TEXT_MAX])
{
	struct finder finder = {
		.source = source,
		.arenas = out_arenas,
		.refusal = out_refusal,
		.steps = {STEPS_MAX},
		.numbers = {.mapped_count = UINT64_MAX},
	};

	*out_arenas = (struct glibc_arenas){
		.minor = image->elf ? glibc_version(image->elf) : 0,
	};
	return image->elf ? find_all(&finder, image) : -ENOENT;
}

int glibc_arenas_find(const struct heap_source *source, const struct elf_image *image,
		      struct glibc_arenas *out_arenas, char out_refusal[HEAP_TEXT_MAX])
{
	int err = -EPROTO;

	/* it changes while it is read: what does not agree may have been of two moments */
	for (unsigned i = 0; i < TRIES && err == -EPROTO; i++) {
		if (i)
			glibc_arenas_close(out_arenas);
		err = find_once(source, image, out_arenas, out_refusal);
	}
	if (!err)
		*out_refusal = 0;
	return err;
}

void glibc_arenas_close(struct glibc_arenas *arenas)
{
	free(arenas->arena);
	free(arenas->region);
	heap_bytes_close(&arenas->data);
	*arenas = (struct glibc_arenas){0};
}
