/* SPDX-License-Identifier: MIT */
/*
 * Room heaps/: what an allocator has in a process's memory, block by block, read from outside while
 * the process runs.
 *
 *   heap.h             what all readers say: start here
 *   heaps.h            the allocators of a process, each by its reader
 *   heap_bytes.h       memory of the process, as far as it is resident; heap_windows.h: small
 *                      reads of it; image_data.h: the variables of an object
 *   glibc_arenas.h     glibc: where its arenas are; glibc_first.h: the first of them;
 *                      glibc_state.h: one; glibc_fast.h: its lists of small freed chunks;
 *                      glibc_heap.c: the chunks in them;
 *                      glibc_caches.h: caches of threads; glibc_mapped.h: blocks with mappings
 *                      of their own
 *   mimalloc_segments.h mimalloc: where its segments are; mimalloc_layout.h: what they look like;
 *                      mimalloc_table.h: their pages; mimalloc_blocks.h: the blocks of a page;
 *                      mimalloc_trim.h: what a segment gives back; mimalloc_heap.c: all pieces
 *   musl_metas.h       musl: where its groups are; musl_heap.c: the slots in them
 *   heap_slabs.h       the pages of an allocator that has a map of them
 *   tcmalloc_layout.h  tcmalloc: where it has what; tcmalloc_map.h: its map of spans;
 *                      tcmalloc_caches.h: cached objects; tcmalloc_heap.c: all pieces
 *   jemalloc_layout.h  jemalloc: where its map of extents is; jemalloc_extent.h: what they are;
 *                      jemalloc_own.h: its own memory; jemalloc_caches.h: cached blocks;
 *                      jemalloc_heap.c: all pieces
 *
 * Uses hooks/ (which allocator it is), elf/, target/. Only reads, and never what is swapped out or
 * was never touched.
 */

/*
 * heap.h - the model of an allocator's memory that all readers fill in.
 *
 * A reader finds the allocator's own structures, believes them only if they agree with each other,
 * and then says what each piece of its memory is. Pieces do not overlap, and those of one region
 * come by rising address. The process goes on meanwhile: what changed while it was read is read
 * again, and what still makes no sense is a piece of which the reader is unsure.
 */
#ifndef HI_HEAP_H
#define HI_HEAP_H

#include "elf_images.h"
#include "pages.h"

enum heap_kind {
	HEAP_USED,   /* a block that the program has */
	HEAP_CACHED, /* freed, and in a cache of blocks of one size, of a thread or of all */
	/*
	 * Freed or never given out, and in no cache. In a slab it is of use for blocks of the
	 * slab's size only, until all of the slab is free; what is too small for one more block at
	 * the end of a slab is free, too. It may have been given back to the system: then it is
	 * not resident.
	 */
	HEAP_FREE,
	HEAP_METADATA, /* what the allocator needs for itself, apart from heads of blocks */
	HEAP_UNSURE,   /* it changed while it was read, is damaged, or is swapped out */
	HEAP_KINDS
};

struct heap_piece {
	remote_addr address; /* of the block: what malloc returned */
	uint64_t bytes;      /* that can be used */
	uint32_t head_bytes; /* right before address: the block's head */
	uint32_t tail_bytes; /* right after the block: not to be used, as fewer were asked for */
	uint32_t arena;      /* counted from 0; allocators without arenas have one */
	enum heap_kind kind;
};

/* How memory goes back to the system when it is not used any more and a trim is asked for. */
struct heap_unit {
	remote_addr lo, hi;
	/*
	 * True: as a whole, once none of its blocks is used or cached, as a slab, a span or a
	 * mapping of a block's own does. False: page by page, each page that has nothing but free
	 * memory.
	 */
	bool is_whole;
	/*
	 * Page by page: so many bytes before and after a block have what the allocator notes there,
	 * and stay with it.
	 */
	uint8_t before_bytes, after_bytes;
	/*
	 * Page by page: the free end of the unit stays. Blocks of at most so many bytes become a
	 * part of it by a trim only; with larger ones it shrinks as soon as they are freed. 0: it
	 * goes back, too.
	 */
	uint8_t end_stays_bytes;
};

/* The callbacks return 0; any other value ends the walk and is what it returns. */
struct heap_visitor {
	int (*piece)(void *context, const struct heap_piece *piece);
	/*
	 * Whole pages of free memory that the allocator gives back to the system if it is told to
	 * (malloc_trim and the like). NULL: not wanted.
	 */
	int (*trimmable)(void *context, remote_addr lo, remote_addr hi);
	/*
	 * How the memory that pieces lie in goes back; it comes before them. Units do not overlap,
	 * and a piece lies in one unit or in none. What lies in none does not go back, or is free
	 * already. NULL: not wanted.
	 */
	int (*unit)(void *context, const struct heap_unit *unit);
	void *context;
};

/* What is read from. */
struct heap_source {
	const struct memory *memory;
	const struct maps *maps;
	const struct elf_images *images;
	struct pages *pages;
	uint64_t deadline_ns; /* clock.h: a walk that takes longer ends with -ETIMEDOUT */
};

/* Visits a unit that goes back as a whole. */
static inline int heap_visit_whole(const struct heap_visitor *visitor, remote_addr lo,
				   remote_addr hi)
{
	const struct heap_unit unit = {.lo = lo, .hi = hi, .is_whole = true};

	return visitor->unit ? visitor->unit(visitor->context, &unit) : 0;
}

#define HEAP_TEXT_MAX 128

/* One allocator, as its reader found it. */
struct heap_found {
	char name[64];               /* "glibc 2.36" */
	uint32_t arenas;             /* that it has */
	uint64_t reread;             /* pieces of memory that had changed and were read again */
	char refusal[HEAP_TEXT_MAX]; /* "": it was read; else why not */
};

/*
 * A reader: walks all that the allocator in this image has. 0: found->refusal says if it was read.
 * -ENOENT: the allocator is there, and was never used. Other errors are those of the visitor and of
 * the memory.
 */
typedef int heap_reader(struct heap_source *source, const struct elf_image *image,
			const struct heap_visitor *visitor, struct heap_found *out_found);
heap_reader glibc_heap_walk, jemalloc_heap_walk, mimalloc_heap_walk, musl_heap_walk,
	tcmalloc_heap_walk;

#endif
