/* SPDX-License-Identifier: MIT */
/*
 * glibc_arenas.c - see glibc_arenas.h. The layouts are those of struct malloc_state, heap_info,
 * malloc_par and tcache_perthread_struct in malloc/malloc.c and malloc/arena.c of glibc.
 */
#include "glibc_arenas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "elf_segment.h"
#include "glibc_version.h"
#include "heap_bytes.h"
#include "hi_wire.h"
#include "steps.h"

/* struct malloc_state */
#define STATE_FAST 0x10u
#define FAST_COUNT 10u
#define STATE_TOP 0x60u
#define STATE_BINS 0x70u
#define BIN_COUNT 127u
#define STATE_NEXT 0x870u
#define STATE_SYSTEM_BYTES 0x888u
#define STATE_BYTES 0x898u
#define BIN_BYTES 16u
#define BIN_TO_CHUNK 16u
#define EMPTY_MIN 2u /* of 127: a busy arena may have few, and all the others lead somewhere */

/* struct heap_info: glibc 2.35 made it larger */
#define INFO_PREVIOUS 8u
#define INFO_SIZE 16u
#define INFO_BYTES_OLD 0x20u
#define INFO_BYTES 0x30u

/* struct malloc_par: words of the initial values, by which it is found */
#define PAR_CACHE_BINS 64u
#define PAR_CACHE_BYTES 1032u
#define PAR_TO_SBRK_BASE (-1)
#define PAR_TO_MAPPED_BYTES (-3)
#define PAR_TO_MAPPED_MOST (-5)  /* before glibc 2.35 its upper half, after n_mmaps */
#define PAR_TO_MAPPED_COUNT (-6) /* its upper half */
#define PAR_MAPPED_MOST 65536u

#define DATA_BYTES_MAX                                                             \
	(64u << 20) /* of writable segments of a program, to look for the arena in \
		     */
#define ARENAS_MAX 65536u
#define TRIES 8u
#define STEPS_MAX (16u << 20)

struct finder {
	const struct heap_source *source;
	struct glibc_arenas *arenas;
	char *refusal;
	uint8_t state[STATE_BYTES]; /* of the arena at hand */
	remote_addr sbrk_base;      /* 0 = not known */
	struct steps steps;
};

static uint64_t word_at(const uint8_t *byte)
{
	uint64_t word;

	memcpy(&word, byte, sizeof(word));
	return word;
}

static bool is_aligned(uint64_t value)
{
	return value && value % GLIBC_ALIGNMENT == 0;
}

static remote_addr chunk_from(remote_addr at)
{
	return (at + GLIBC_CHUNK_TO_BLOCK + GLIBC_ALIGNMENT - 1) / GLIBC_ALIGNMENT *
		       GLIBC_ALIGNMENT -
	       GLIBC_CHUNK_TO_BLOCK;
}

/* ---- the first arena ------------------------------------------------------------------------- */

/* Do these bytes look like an arena that is at `at`? */
static bool is_arena(const uint8_t *state, remote_addr at)
{
	unsigned empty = 0;

	if (!is_aligned(word_at(state + STATE_TOP)) || !is_aligned(word_at(state + STATE_NEXT)))
		return false;
	for (unsigned i = 0; i < BIN_COUNT; i++) {
		const unsigned offset = STATE_BINS + i * BIN_BYTES;
		const uint64_t forward = word_at(state + offset);
		const uint64_t back = word_at(state + offset + GLIBC_WORD);
		const uint64_t self = at + offset - BIN_TO_CHUNK;

		if (!is_aligned(forward) || !is_aligned(back))
			return false;
		empty += forward == self && back == self;
	}
	return empty >= EMPTY_MIN;
}

/* Looks for the first arena in a segment. 0: it is not there. */
static remote_addr find_first(const struct heap_bytes *data)
{
	const remote_addr hi = data->known_hi;

	for (remote_addr at = data->lo; at + BIN_BYTES <= hi; at += GLIBC_WORD) {
		const uint64_t self = at - BIN_TO_CHUNK;

		if (heap_bytes_word(data, at) != self ||
		    heap_bytes_word(data, at + GLIBC_WORD) != self)
			continue;
		/* an empty list; which of them is it? */
		for (unsigned i = 0; i < BIN_COUNT; i++) {
			const remote_addr arena = at - STATE_BINS - i * BIN_BYTES;

			if (heap_bytes_has(data, arena, STATE_BYTES) &&
			    is_arena(data->byte + (arena - data->lo), arena))
				return arena;
		}
	}
	return 0;
}

static uint64_t par_word(const uint8_t *par, int word)
{
	return word_at(par + word * (int)GLIBC_WORD);
}

/* How many blocks have a mapping of their own. */
static uint64_t mapped_count(const uint8_t *par)
{
	const uint64_t most = par_word(par, PAR_TO_MAPPED_MOST);

	if (most >> 32 == PAR_MAPPED_MOST)
		return (uint32_t)most;
	if ((uint32_t)most == PAR_MAPPED_MOST)
		return par_word(par, PAR_TO_MAPPED_COUNT) >> 32;
	return UINT64_MAX;
}

/*
 * Takes the numbers of malloc_par. There may be other such words: sbrk_base has to be in the
 * mapping of the first arena's top.
 */
static void find_numbers(struct finder *finder, const struct heap_bytes *data,
			 const struct glibc_region *heap)
{
	struct glibc_arenas *arenas = finder->arenas;

	for (remote_addr at = data->lo + 8 * GLIBC_WORD; heap_bytes_has(data, at, 2 * GLIBC_WORD);
	     at += GLIBC_WORD) {
		const uint8_t *par = data->byte + (at - data->lo);
		const uint64_t base = par_word(par, PAR_TO_SBRK_BASE);
		const uint64_t bytes = par_word(par, PAR_TO_MAPPED_BYTES);

		if (par_word(par, 0) != PAR_CACHE_BINS || par_word(par, 1) != PAR_CACHE_BYTES)
			continue;
		if ((base && (base < heap->lo || base > heap->top)) || bytes % HI_PAGE_BYTES)
			continue;
		finder->sbrk_base = base;
		arenas->mapped_bytes = bytes;
		arenas->mapped_count = mapped_count(par);
	}
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

/* Where the top of the arena ends. */
static int top_end(struct finder *finder, remote_addr *out_top, remote_addr *out_end)
{
	const remote_addr top = word_at(finder->state + STATE_TOP);
	uint64_t size;
	const int err = heap_word(finder->source, top + GLIBC_WORD, &size);

	if (err)
		return err == -ENODATA ? refuse(finder, "the end of an arena is swapped out", top)
				       : err;
	size &= ~(uint64_t)GLIBC_FLAGS;
	if (size < GLIBC_FENCE_BYTES || size % GLIBC_ALIGNMENT || top + size < top)
		return refuse(finder, "an arena whose end is not understood,", top);
	*out_top = top;
	*out_end = top + size;
	return 0;
}

static int add_first(struct finder *finder, const struct glibc_region *heap)
{
	struct glibc_region region = {0};
	int err = top_end(finder, &region.top, &region.hi);

	if (err)
		return err;
	region.lo = chunk_from(finder->sbrk_base ? finder->sbrk_base : heap->lo);
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
		err = top_end(finder, &top, &top_hi);
	if (err)
		return err == -ENODATA ? refuse(finder, "a swapped-out heap", heap) : err;
	if (owner != arena || size % HI_PAGE_BYTES || size < info_bytes + STATE_BYTES)
		return refuse(finder, "a heap that is not of its arena,", heap);
	region.hi = heap + size;
	region.lo =
		chunk_from(arena - heap == info_bytes ? arena + STATE_BYTES : heap + info_bytes);
	if (top >= region.lo && top < region.hi)
		region.top = top, region.hi = top_hi;
	return add_region(finder->arenas, &region);
}

static int add_heaps(struct finder *finder, remote_addr arena)
{
	uint64_t info_bytes = 0;
	const uint64_t most = heap_bytes_max(finder->source, arena, &info_bytes);
	remote_addr heap = word_at(finder->state + STATE_TOP) & ~(most - 1);
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

static int read_state(struct finder *finder, remote_addr arena)
{
	struct heap_bytes bytes = {.byte = finder->state, .room = STATE_BYTES};
	const int err = heap_bytes_read(&bytes, finder->source, arena, STATE_BYTES);

	if (err)
		return err;
	return is_arena(finder->state, arena) ? 0 : refuse(finder, "no arena", arena);
}

/* first: its state is at hand. */
static int add_arenas(struct finder *finder, remote_addr first, const struct glibc_region *heap)
{
	remote_addr arena = first;
	int err = add_first(finder, heap);

	while (!err) {
		const remote_addr next = word_at(finder->state + STATE_NEXT);

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

/* ---- freed chunks that look like chunks in use ------------------------------------------------
 */

static int add_fast(struct glibc_arenas *arenas, remote_addr chunk)
{
	if (arenas->fast_count == arenas->fast_room) {
		const size_t room = arenas->fast_room ? 2 * arenas->fast_room : 256;
		remote_addr *grown = realloc(arenas->fast, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		arenas->fast = grown;
		arenas->fast_room = room;
	}
	arenas->fast[arenas->fast_count++] = chunk;
	return 0;
}

/* glibc 2.32 and later mangle the link with its own place. */
static remote_addr next_fast(const struct glibc_arenas *arenas, remote_addr chunk, uint64_t link)
{
	const remote_addr clear = link ^ ((chunk + GLIBC_CHUNK_TO_BLOCK) >> 12);

	if (!arenas->minor)
		return glibc_arenas_region(arenas, clear) && clear % GLIBC_ALIGNMENT == 0 ? clear
											  : link;
	return arenas->minor >= 32 ? clear : link;
}

/* One chunk of a list. *out_next: 0 where the list ends, or makes no sense. */
static int take_fast(struct finder *finder, remote_addr chunk, uint64_t size, remote_addr *out_next)
{
	uint8_t byte[3 * GLIBC_WORD];
	struct heap_bytes head = {.byte = byte, .room = sizeof(byte)};
	int err = heap_bytes_read(&head, finder->source, chunk, sizeof(byte));

	*out_next = 0;
	if (err || !heap_bytes_has(&head, chunk, sizeof(byte)) ||
	    (word_at(byte + GLIBC_WORD) & ~(uint64_t)GLIBC_FLAGS) != size)
		return err;
	err = add_fast(finder->arenas, chunk);
	*out_next = next_fast(finder->arenas, chunk, word_at(byte + 2 * GLIBC_WORD));
	return err;
}

/*
 * One list. It changes while it is read, and may be a ring then: a chunk that was met comes again
 * after as many as lie between two powers of two.
 */
static int add_fast_list(struct finder *finder, remote_addr chunk, uint64_t size)
{
	remote_addr met = 0;
	uint64_t count = 0, power = 1;
	int err = 0;

	while (!err && chunk != met && is_aligned(chunk) &&
	       glibc_arenas_region(finder->arenas, chunk) && steps_take(&finder->steps)) {
		if (clock_now_ns() >= finder->source->deadline_ns)
			return -ETIMEDOUT;
		if (++count == power) {
			met = chunk;
			power *= 2;
		}
		err = take_fast(finder, chunk, size, &chunk);
	}
	return err;
}

static int compare_addresses(const void *a, const void *b)
{
	const remote_addr left = *(const remote_addr *)a, right = *(const remote_addr *)b;

	return left < right ? -1 : left > right;
}

static int add_fast_lists(struct finder *finder)
{
	struct glibc_arenas *arenas = finder->arenas;
	int err = 0;

	for (uint32_t i = 0; i < arenas->count && !err; i++) {
		err = read_state(finder, arenas->arena[i]);
		for (unsigned list = 0; list < FAST_COUNT && !err; list++)
			err = add_fast_list(finder,
					    word_at(finder->state + STATE_FAST + list * GLIBC_WORD),
					    (list + 2) * GLIBC_ALIGNMENT);
	}
	if (arenas->fast_count)
		qsort(arenas->fast, arenas->fast_count, sizeof(*arenas->fast), compare_addresses);
	return err;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The writable segment that has the first arena. */
static int find_data(struct finder *finder, const struct elf_image *image, struct heap_bytes *data,
		     remote_addr *out_first)
{
	uint64_t room = DATA_BYTES_MAX;
	GElf_Phdr segment;
	size_t at = 0;
	int err = 0;

	while (!err && !*out_first && elf_segment_next(image->elf, PT_LOAD, &at, &segment)) {
		const remote_addr lo = (image->bias + segment.p_vaddr) & ~(GLIBC_WORD - 1ull);

		/* what it looks for has initial values, and so is at the segment's begin */
		const uint64_t size = segment.p_memsz < room ? segment.p_memsz : room;

		if (!(segment.p_flags & PF_W) || !size)
			continue;
		room -= size;
		err = heap_bytes_read(data, finder->source, lo, size);
		if (!err)
			*out_first = find_first(data);
	}
	return err ? err : *out_first ? 0 : -ENOENT;
}

/*
 * The mappings that end with the one of the first arena's top: after a fork the heap may go on in
 * one of its own. -ENOENT: nothing was allocated yet.
 */
static int find_heap(struct finder *finder, remote_addr first, struct glibc_region *out_heap)
{
	const remote_addr top = word_at(finder->state + STATE_TOP);
	const struct maps *maps = finder->source->maps;
	const struct mapping *mapping = maps_find(maps, top);

	/* it has grown since */
	for (size_t i = 0; i < maps->count && !mapping; i++)
		if (!strcmp(maps->mapping[i].path, "[heap]") && maps->mapping[i].lo < top &&
		    (i + 1 == maps->count || maps->mapping[i + 1].lo > top))
			mapping = &maps->mapping[i];
	if (top == first + STATE_BINS - BIN_TO_CHUNK)
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
	struct heap_bytes data = {0};
	struct glibc_region heap = {0};
	remote_addr first = 0;
	int err = find_data(finder, image, &data, &first);

	if (!err)
		err = read_state(finder, first);
	if (!err)
		err = find_heap(finder, first, &heap);
	if (!err)
		find_numbers(finder, &data, &heap);
	heap_bytes_close(&data);
	if (!err)
		err = add_arenas(finder, first, &heap);
	if (!err)
		err = sort_regions(finder);
	return err ? err : add_fast_lists(finder);
}

static int find_once(const struct heap_source *source, const struct elf_image *image,
		     struct glibc_arenas *out_arenas, char out_refusal[HEAP_TEXT_MAX])
{
	struct finder finder = {
		.source = source,
		.arenas = out_arenas,
		.refusal = out_refusal,
		.steps = {STEPS_MAX},
	};

	*out_arenas = (struct glibc_arenas){
		.minor = image->elf ? glibc_version(image->elf) : 0,
		.mapped_count = UINT64_MAX,
		.mapped_bytes = UINT64_MAX,
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
	free(arenas->fast);
	*arenas = (struct glibc_arenas){0};
}
