/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_heap.c - reader of jemalloc 5: walks all extents and the blocks in them.
 *
 * A slab has a bit for each free block in its descriptor, and their number: where the two do not
 * agree, they were changed meanwhile, and are read again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "jemalloc_caches.h"

#define TRIES 4u
#define EXTENTS_A_LOOK 256u /* at the clock */

struct walker {
	struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct heap_windows windows;
	struct image_data data;
	struct jemalloc_layout layout;
	struct jemalloc_map map;
	struct heap_slabs slabs;
	struct jemalloc_owns owns;
	size_t looked; /* extents, since the clock was looked at */
};

static int put(struct walker *walker, unsigned arena, remote_addr lo, remote_addr hi,
	       enum heap_kind kind)
{
	const struct heap_piece piece = {
		.address = lo, .bytes = hi - lo, .arena = arena, .kind = kind};

	return lo < hi ? walker->visitor->piece(walker->visitor->context, &piece) : 0;
}

/* ---- extents --------------------------------------------------------------------------------- */

static bool is_free(const struct jemalloc_extent *extent, unsigned block)
{
	return extent->bitmap[block / 64] >> block % 64 & 1;
}

static bool does_agree(const struct heap_slab *slab, const struct jemalloc_extent *extent)
{
	unsigned free_blocks = 0;

	if (extent->lo != slab->lo || extent->hi != slab->hi)
		return false;
	if (extent->state != JEMALLOC_ACTIVE)
		return extent->state <= JEMALLOC_RETAINED;
	if (extent->size_class != slab->tag || !slab->blocks)
		return false;
	if (!extent->is_slab)
		return extent->block == slab->block;
	for (unsigned i = 0; i < slab->blocks; i++)
		free_blocks += is_free(extent, i);
	return free_blocks == extent->free;
}

/* 1: what the extent has is known. */
static int read_extent(struct walker *walker, const struct heap_slab *slab,
		       struct jemalloc_extent *extent)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (i) {
			walker->slabs.reread++;
			heap_windows_drop(&walker->windows);
		}
		const int err = jemalloc_extent_read(&walker->windows, &walker->layout.form,
						     slab->descriptor, extent);

		if (err < 0)
			return err == -ENODATA ? 0 : err;
		if (err && does_agree(slab, extent))
			return 1;
	}
	return 0;
}

static int walk_slab(struct walker *walker, const struct heap_slab *slab,
		     const struct jemalloc_extent *extent)
{
	const uint64_t first = heap_slabs_first(&walker->slabs, slab);
	const uint64_t size = slab->block_bytes;
	remote_addr at = slab->block;
	int err = 0;

	for (unsigned i = 0; i < slab->blocks && !err; i++, at += size)
		err = put(walker, extent->arena, at, at + size,
			  is_free(extent, i) ? HEAP_FREE
					     : heap_slabs_kind(&walker->slabs, first, i));
	return err ? err : put(walker, extent->arena, at, slab->hi, HEAP_FREE);
}

/* A block that begins at any place of its first page; what is left of its pages is lost. */
static int walk_large(struct walker *walker, const struct heap_slab *slab,
		      const struct jemalloc_extent *extent)
{
	const struct heap_piece piece = {
		.address = slab->block,
		.bytes = slab->block_bytes,
		.head_bytes = (uint32_t)(slab->block - slab->lo),
		.tail_bytes = (uint32_t)(slab->hi - slab->block - slab->block_bytes),
		.arena = extent->arena,
		.kind = heap_slabs_kind(&walker->slabs, heap_slabs_first(&walker->slabs, slab), 0),
	};

	return walker->visitor->piece(walker->visitor->context, &piece);
}

static int walk_extent(void *context, const struct heap_slab *slab)
{
	struct walker *walker = context;
	struct jemalloc_extent extent;

	if (walker->looked++ % EXTENTS_A_LOOK == 0 && clock_now_ns() >= walker->source->deadline_ns)
		return -ETIMEDOUT;
	int err = slab->descriptor ? read_extent(walker, slab, &extent) : 0;

	if (err <= 0)
		return err ? err : put(walker, 0, slab->lo, slab->hi, HEAP_UNSURE);
	if (extent.arena >= walker->found->arenas)
		walker->found->arenas = extent.arena + 1;
	if (extent.state == JEMALLOC_ACTIVE) {
		err = heap_visit_whole(walker->visitor, slab->lo, slab->hi);
		return err              ? err
		       : extent.is_slab ? walk_slab(walker, slab, &extent)
					: walk_large(walker, slab, &extent);
	}
	err = put(walker, extent.arena, slab->lo, slab->hi, HEAP_FREE);
	if (err || extent.state == JEMALLOC_RETAINED || !walker->visitor->trimmable)
		return err;
	return walker->visitor->trimmable(walker->visitor->context, slab->lo, slab->hi);
}

static int walk_extents(struct walker *walker)
{
	int err = heap_map_walk(&walker->map.map, &walker->slabs.reread, walk_extent, walker);

	for (size_t i = 0; i < walker->owns.count && !err; i++)
		err = heap_slabs_add_own(&walker->slabs, walker->owns.own[i].head,
					 walker->owns.own[i].hi);
	heap_slabs_sort_own(&walker->slabs);
	for (size_t i = 0; i < walker->slabs.own_count && !err; i++)
		err = put(walker, 0, walker->slabs.own[i].lo, walker->slabs.own[i].hi,
			  HEAP_METADATA);
	return err;
}

static int walk_all(struct walker *walker, const struct elf_image *image)
{
	char *refusal = walker->found->refusal;
	size_t caches = 0;
	int err = image_data_read(&walker->data, walker->source, image);

	if (!err)
		err = jemalloc_layout_find(&walker->windows, &walker->data, &walker->layout,
					   refusal);
	if (!err) {
		strcpy(walker->found->name, walker->layout.form.name);
		jemalloc_map_open(&walker->map, &walker->windows, &walker->layout);
		err = heap_slabs_read(&walker->slabs, &walker->map.map);
	}
	if (!err && walker->map.has_huge_pages) {
		snprintf(refusal, HEAP_TEXT_MAX,
			 "its allocator of huge pages (hpa) is not understood");
		err = -EPROTO;
	}
	if (!err)
		err = jemalloc_owns_find(&walker->owns, &walker->windows, &walker->slabs);
	if (!err)
		err = jemalloc_caches_mark(&walker->slabs, &walker->windows, &walker->owns,
					   walker->layout.form.slab_sizes, &caches);
	if (!err && !caches) {
		snprintf(refusal, HEAP_TEXT_MAX, "the caches of its threads were not found");
		err = -EPROTO;
	}
	return err ? err : walk_extents(walker);
}

int jemalloc_heap_walk(struct heap_source *source, const struct elf_image *image,
		       const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	int err;

	if (!walker)
		return -ENOMEM;
	strcpy(out_found->name, "jemalloc");
	walker->source = source;
	walker->windows.source = source;
	walker->visitor = visitor;
	walker->found = out_found;
	err = walk_all(walker, image);
	out_found->reread = walker->slabs.reread;
	jemalloc_owns_close(&walker->owns);
	heap_slabs_close(&walker->slabs);
	jemalloc_layout_close(&walker->layout);
	image_data_close(&walker->data);
	heap_windows_close(&walker->windows);
	free(walker);
	return err == -EPROTO ? 0 : err;
}
