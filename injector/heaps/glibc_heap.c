/* SPDX-License-Identifier: MIT */
/*
 * glibc_heap.c - reader of glibc's malloc: walks the chunks of all arenas.
 *
 * A region is chunks one after the other, each with its size in its head, and the head of the next
 * one says whether it is in use. The walk reads a window at a time, and what a window has said is
 * passed on only after the next one was understood: where the chain breaks, the program has changed
 * it between the two, and both are read again. Where it stays broken, what lies up to the next
 * chunk that the arena's own lists name is unsure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "glibc_arenas.h"
#include "glibc_caches.h"
#include "glibc_fast.h"
#include "glibc_mapped.h"
#include "heap_bytes.h"
#include "hi_page.h"

#define WINDOW_BYTES (1u << 20)
/* after the chain broke: less memory is read in less time */
#define SMALL_BYTES (16u << 10)
#define BACK_PIECES 16u /* so far before the break */
#define TRIES 4u        /* of a small window by itself, then as often with what is before it */
#define CACHES_BYTES \
	(256u << 10) /* from the start of each region, in which caches are looked for */
#define CHAIN_CHUNKS 16u
#define HEAD_AND_NEXT (2 * GLIBC_WORD)

/* malloc_trim leaves so much of a free chunk, and of the top */
#define CHUNK_STRUCT_BYTES 0x30u
#define TOP_KEPT_BYTES (GLIBC_CHUNK_BYTES_MIN + 1u)
#define FAST_BYTES_MAX 120u /* blocks that free() does not join with what is free around them */

struct window {
	remote_addr lo;     /* where it began */
	size_t piece_count; /* of pending pieces that are its own */
};

struct walker {
	struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct glibc_arenas arenas;
	struct glibc_fast fast;
	struct glibc_caches caches;
	struct heap_bytes bytes;
	struct heap_piece *pending; /* of the window before, then of the one at hand */
	size_t pending_count, pending_room;
	size_t fast_at; /* the next of fast.chunk[] */
	/* where free chunks began that follow each other; malloc_trim joins those of fast lists */
	remote_addr free_lo;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static int put(struct walker *walker, const struct heap_piece *piece)
{
	if (walker->pending_count == walker->pending_room) {
		const size_t room = walker->pending_room ? 2 * walker->pending_room : 4096;
		struct heap_piece *grown = realloc(walker->pending, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		walker->pending = grown;
		walker->pending_room = room;
	}
	walker->pending[walker->pending_count++] = *piece;
	return 0;
}

static int put_range(struct walker *walker, const struct glibc_region *region, remote_addr lo,
		     remote_addr hi, enum heap_kind kind)
{
	const struct heap_piece piece = {
		.address = lo, .bytes = hi - lo, .arena = region->arena, .kind = kind};

	return lo < hi ? put(walker, &piece) : 0;
}

static int trim(struct walker *walker, remote_addr lo, remote_addr hi)
{
	lo = (lo + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();
	hi = hi / hi_page_bytes() * hi_page_bytes();
	return lo < hi && walker->visitor->trimmable
		       ? walker->visitor->trimmable(walker->visitor->context, lo, hi)
		       : 0;
}

/* What malloc_trim gives back of the free chunks [lo, hi). */
static int end_free_run(struct walker *walker, remote_addr hi)
{
	const remote_addr lo = walker->free_lo;

	walker->free_lo = 0;
	return lo ? trim(walker, lo + CHUNK_STRUCT_BYTES, hi) : 0;
}

static int pass_on(struct walker *walker, const struct heap_piece *piece)
{
	const remote_addr lo = piece->address - (piece->head_bytes ? GLIBC_CHUNK_TO_BLOCK : 0);
	int err = 0;

	if (piece->kind != HEAP_FREE)
		err = end_free_run(walker, lo);
	else if (!walker->free_lo)
		walker->free_lo = lo;
	return err ? err : walker->visitor->piece(walker->visitor->context, piece);
}

/* Passes on the first `count` pending pieces. */
static int flush(struct walker *walker, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = pass_on(walker, &walker->pending[i]);
	walker->pending_count -= count;
	if (count)
		memmove(walker->pending, walker->pending + count,
			walker->pending_count * sizeof(*walker->pending));
	return err;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool is_fast(struct walker *walker, remote_addr chunk)
{
	const struct glibc_fast *fast = &walker->fast;
	size_t at = walker->fast_at;

	/* windows are read again, from further down */
	while (at && fast->chunk[at - 1] >= chunk)
		at--;
	while (at < fast->count && fast->chunk[at] < chunk)
		at++;
	walker->fast_at = at;
	return at < fast->count && fast->chunk[at] == chunk;
}

/* Of a chunk that its successor says is in use. */
static enum heap_kind kind_of(struct walker *walker, remote_addr chunk, uint64_t size)
{
	const remote_addr block = chunk + GLIBC_CHUNK_TO_BLOCK;

	if (walker->fast.count && is_fast(walker, chunk))
		return HEAP_FREE;
	if (glibc_caches_has(&walker->caches, heap_bytes_word(&walker->bytes, block + GLIBC_WORD)))
		return HEAP_CACHED;
	if (size == GLIBC_CACHE_CHUNK_BYTES &&
	    heap_bytes_has(&walker->bytes, block, size - GLIBC_HEAD_BYTES) &&
	    glibc_caches_add(&walker->caches, walker->source, &walker->arenas, block,
			     walker->bytes.byte + (block - walker->bytes.lo)))
		return HEAP_METADATA;
	return HEAP_USED;
}

enum step { STEP_ON, STEP_END, STEP_BROKEN };

static bool is_possible(const struct glibc_region *region, remote_addr at, uint64_t head)
{
	const uint64_t size = head & ~(uint64_t)GLIBC_FLAGS;

	return size >= GLIBC_CHUNK_BYTES_MIN && size % GLIBC_ALIGNMENT == 0 &&
	       size <= region->hi - at && !(head & GLIBC_IS_MAPPED) &&
	       (region->arena || !(head & GLIBC_NOT_MAIN_ARENA));
}

/* The head of the chunk after this one, and the word before it. */
static int read_next(struct walker *walker, remote_addr next, uint64_t word[2])
{
	uint8_t byte[HEAD_AND_NEXT];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};
	int err;

	if (heap_bytes_has(&walker->bytes, next, HEAD_AND_NEXT)) {
		word[0] = heap_bytes_word(&walker->bytes, next);
		word[1] = heap_bytes_word(&walker->bytes, next + GLIBC_WORD);
		return 0;
	}
	err = heap_bytes_read(&bytes, walker->source, next, sizeof(byte));
	word[0] = heap_bytes_word(&bytes, next);
	word[1] = heap_bytes_word(&bytes, next + GLIBC_WORD);
	return err;
}

/* One chunk at *at, which is advanced. */
static int take_chunk(struct walker *walker, const struct glibc_region *region, remote_addr *at,
		      enum step *out_step)
{
	const uint64_t head = heap_bytes_word(&walker->bytes, *at + GLIBC_WORD);
	const uint64_t size = head & ~(uint64_t)GLIBC_FLAGS;
	struct heap_piece piece = {
		.address = *at + GLIBC_CHUNK_TO_BLOCK,
		.bytes = size - GLIBC_HEAD_BYTES,
		.head_bytes = GLIBC_HEAD_BYTES,
		.arena = region->arena,
	};
	uint64_t next[2] = {0};
	int err;

	*out_step = STEP_BROKEN;
	if (!is_possible(region, *at, head))
		return 0;
	if (*at + size < region->hi) {
		err = read_next(walker, *at + size, next);
		if (err)
			return err;
	} else {
		next[1] = GLIBC_PREVIOUS_IN_USE;
	}
	const bool is_used = next[1] & GLIBC_PREVIOUS_IN_USE;
	if (!is_used && next[0] != size)
		return 0;
	piece.kind = is_used ? kind_of(walker, *at, size) : HEAP_FREE;
	*out_step = STEP_ON;
	*at += size;
	return put(walker, &piece);
}

/* The window from *at on, as far as it has whole chunks. */
static int take_window(struct walker *walker, const struct glibc_region *region, remote_addr *at,
		       enum step *out_step)
{
	const remote_addr end = region->top ? region->top : region->hi, begin = *at;
	int err = 0;

	*out_step = STEP_ON;
	while (!err && *out_step == STEP_ON && *at < end) {
		if (!heap_bytes_has(&walker->bytes, *at, GLIBC_CHUNK_BYTES_MIN)) {
			/* the next window, but for one that begins with what is not known */
			*out_step = *at == begin ? STEP_BROKEN : STEP_END;
			break;
		}
		const uint64_t size =
			heap_bytes_word(&walker->bytes, *at + GLIBC_WORD) & ~(uint64_t)GLIBC_FLAGS;

		if (!region->top && size <= GLIBC_FENCE_BYTES && end - *at <= 4 * GLIBC_WORD) {
			/* the block before has the first word */
			err = put_range(walker, region, *at + GLIBC_WORD, end, HEAP_METADATA);
			*at = end;
		} else if (*at != begin && size < SMALL_BYTES / 2 &&
			   !heap_bytes_has(&walker->bytes, *at, size + HEAD_AND_NEXT)) {
			break; /* it will be whole in the next window */
		} else {
			err = take_chunk(walker, region, at, out_step);
		}
	}
	if (*out_step == STEP_END)
		*out_step = STEP_ON;
	return err;
}

/* ---- regions --------------------------------------------------------------------------------- */

struct progress {
	const struct glibc_region *region;
	remote_addr at;
	struct window before; /* piece_count 0: none */
	unsigned tries;
	remote_addr broken; /* the farthest chunk at which the chain broke in these tries */
};

/* Do as many chunks follow each other from `at` on, in the window, as no other data would? */
static bool is_chain(const struct walker *walker, const struct glibc_region *region, remote_addr at)
{
	for (unsigned i = 0; i < CHAIN_CHUNKS; i++) {
		if (!heap_bytes_has(&walker->bytes, at, GLIBC_CHUNK_BYTES_MIN))
			return false;
		const uint64_t head = heap_bytes_word(&walker->bytes, at + GLIBC_WORD);

		if (!is_possible(region, at, head))
			return false;
		at += head & ~(uint64_t)GLIBC_FLAGS;
	}
	return true;
}

/* Where the chain goes on after it broke: before that it would lead there again. */
static int skip(struct walker *walker, struct progress *progress)
{
	const struct glibc_region *region = progress->region;
	const remote_addr end = region->top ? region->top : region->hi;
	const remote_addr from = progress->broken;
	const uint64_t left = end - from;
	remote_addr next = from + GLIBC_ALIGNMENT;
	int err = flush(walker, progress->before.piece_count);

	walker->pending_count = 0;
	if (!err)
		err = heap_bytes_read(&walker->bytes, walker->source, from,
				      left < WINDOW_BYTES ? left : WINDOW_BYTES);
	if (err)
		return err;
	while (next - from < walker->bytes.size && !is_chain(walker, region, next))
		next += GLIBC_ALIGNMENT;
	next = next - from < walker->bytes.size ? next : from + walker->bytes.size;
	err = put_range(walker, region, progress->at + GLIBC_WORD, next + GLIBC_WORD, HEAP_UNSURE);
	*progress = (struct progress){.region = region, .at = next};
	return err ? err : flush(walker, walker->pending_count);
}

/*
 * What was understood before the break, but for its last pieces, counts as a window of its own.
 * begin: of the window that broke.
 */
static int keep_begin(struct walker *walker, struct progress *progress, remote_addr begin)
{
	const size_t own = walker->pending_count - progress->before.piece_count - BACK_PIECES;
	const int err = flush(walker, progress->before.piece_count);

	progress->before = (struct window){begin, own};
	progress->at = walker->pending[own].address - GLIBC_CHUNK_TO_BLOCK;
	progress->tries = 1;
	walker->pending_count = own;
	return err;
}

/* After the window from progress->at on broke. */
static int try_again(struct walker *walker, struct progress *progress)
{
	const size_t before = progress->before.piece_count;

	walker->found->reread++;
	if (progress->tries < TRIES && walker->pending_count > before + BACK_PIECES)
		return keep_begin(walker, progress, progress->at);
	progress->tries++;
	if (progress->tries == 2 * TRIES || (progress->tries == TRIES && !before))
		return skip(walker, progress);
	walker->pending_count = before;
	if (progress->tries != TRIES)
		return 0;
	/* the error may be before it */
	progress->at = progress->before.lo;
	walker->pending_count = progress->before.piece_count = 0;
	return 0;
}

static uint64_t window_bytes(const struct progress *progress)
{
	if (progress->tries >= TRIES)
		return 2 * WINDOW_BYTES;
	return progress->tries ? SMALL_BYTES : WINDOW_BYTES;
}

static int walk_chunks(struct walker *walker, const struct glibc_region *region)
{
	const remote_addr end = region->top ? region->top : region->hi;
	struct progress progress = {.region = region, .at = region->lo};
	int err = 0;

	while (!err && progress.at < end) {
		const remote_addr begin = progress.at;
		const uint64_t size = window_bytes(&progress);
		const uint64_t left = region->hi - begin;
		enum step step;

		if (clock_now_ns() >= walker->source->deadline_ns)
			return -ETIMEDOUT;
		err = heap_bytes_read(&walker->bytes, walker->source, begin,
				      left < size ? left : size);
		if (err)
			break;
		const size_t before = walker->pending_count;
		remote_addr at = begin;

		err = take_window(walker, region, &at, &step);
		if (err)
			break;
		/* a chunk there that seems cut off is no end of a window, either */
		if (step == STEP_BROKEN || (progress.tries >= TRIES && at <= progress.broken)) {
			progress.broken = at > progress.broken ? at : progress.broken;
			err = try_again(walker, &progress);
			continue;
		}
		err = flush(walker, before);
		progress = (struct progress){
			.region = region, .at = at, .before = {begin, walker->pending_count}};
	}
	return err ? err : flush(walker, walker->pending_count);
}

/*
 * The chunk that was never given out, at the end of an arena. Of the first arena it goes back to
 * the system, with what is free before it.
 */
static int walk_top(struct walker *walker, const struct glibc_region *region)
{
	const struct heap_piece top = {
		.address = region->top + GLIBC_CHUNK_TO_BLOCK,
		.bytes = region->hi - region->top - GLIBC_CHUNK_TO_BLOCK,
		.head_bytes = GLIBC_HEAD_BYTES,
		.arena = region->arena,
		.kind = HEAP_FREE,
	};
	const uint64_t size = region->hi - (walker->free_lo ? walker->free_lo : region->top);
	const int err = walker->visitor->piece(walker->visitor->context, &top);

	walker->free_lo = 0;
	if (err || region->arena || size <= TOP_KEPT_BYTES)
		return err;
	return trim(walker,
		    region->hi - (size - TOP_KEPT_BYTES) / hi_page_bytes() * hi_page_bytes(),
		    region->hi);
}

static int visit_unit(struct walker *walker, const struct glibc_region *region)
{
	const struct heap_unit unit = {
		.lo = region->metadata_lo,
		.hi = region->hi,
		.before_bytes = GLIBC_CHUNK_TO_BLOCK,
		.after_bytes = CHUNK_STRUCT_BYTES - GLIBC_HEAD_BYTES,
		.end_stays_bytes = region->arena && region->top ? FAST_BYTES_MAX : 0,
	};

	return walker->visitor->unit ? walker->visitor->unit(walker->visitor->context, &unit) : 0;
}

static int walk_region(struct walker *walker, const struct glibc_region *region)
{
	int err = visit_unit(walker, region);

	walker->free_lo = 0;
	if (!err)
		err = put_range(walker, region, region->metadata_lo, region->lo, HEAP_METADATA);
	if (!err)
		err = walk_chunks(walker, region);
	return err           ? err
	       : region->top ? walk_top(walker, region)
			     : end_free_run(walker, region->hi);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The caches of threads are among the first chunks of a region, if anything is there. */
static int find_caches(struct walker *walker)
{
	int err = 0;

	for (size_t i = 0; i < walker->arenas.region_count && !err; i++) {
		const struct glibc_region *region = &walker->arenas.region[i];
		const uint64_t left = region->hi - region->lo;
		remote_addr at = region->lo;
		enum step step;

		err = heap_bytes_read(&walker->bytes, walker->source, at,
				      left < CACHES_BYTES ? left : CACHES_BYTES);
		if (!err)
			err = take_window(walker, region, &at, &step);
		walker->pending_count = 0;
	}
	return err;
}

static int walk_all(struct walker *walker)
{
	int err = find_caches(walker);

	for (size_t i = 0; i < walker->arenas.region_count && !err; i++)
		err = walk_region(walker, &walker->arenas.region[i]);
	return err ? err : glibc_mapped_walk(walker->source, &walker->arenas, walker->visitor);
}

int glibc_heap_walk(struct heap_source *source, const struct elf_image *image,
		    const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker walker = {.source = source, .visitor = visitor, .found = out_found};
	int err = glibc_arenas_find(source, image, &walker.arenas, out_found->refusal);

	if (walker.arenas.minor)
		snprintf(out_found->name, sizeof(out_found->name), "glibc 2.%d",
			 walker.arenas.minor);
	else
		strcpy(out_found->name, "glibc");
	if (!err && walker.arenas.minor &&
	    (walker.arenas.minor < GLIBC_MINOR_MIN || walker.arenas.minor > GLIBC_MINOR_MAX)) {
		snprintf(out_found->refusal, sizeof(out_found->refusal),
			 "only the heaps of glibc 2.%d to 2.%d are known", GLIBC_MINOR_MIN,
			 GLIBC_MINOR_MAX);
		err = -EPROTO;
	}
	out_found->arenas = walker.arenas.count;
	if (!err)
		err = glibc_fast_find(source, &walker.arenas, &walker.fast, out_found->refusal);
	if (!err)
		err = walk_all(&walker);
	glibc_arenas_close(&walker.arenas);
	glibc_fast_close(&walker.fast);
	glibc_caches_close(&walker.caches);
	heap_bytes_close(&walker.bytes);
	free(walker.pending);
	return err == -EPROTO ? 0 : err;
}
