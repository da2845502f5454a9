/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_heap.c - reader of gperftools' tcmalloc: walks all spans and the objects in them.
 *
 * The objects of a span that are in none of its hands are in a chain that begins in its descriptor,
 * which also says how many they are not. A chain that does not agree with that was changed
 * meanwhile, and is read again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hi_wire.h"
#include "tcmalloc_caches.h"
#include "tcmalloc_map.h"

#define TRIES 4u
#define CONTENT_BYTES (1u << 20)
#define OBJECTS_MAX 65536u /* of a span: it counts them in 16 bits */
#define SPANS_A_LOOK 256u  /* at the clock */

struct walker {
	const struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct heap_windows windows;
	struct image_data data;
	struct tcmalloc_layout layout;
	struct tcmalloc_map map;
	struct heap_slabs slabs;
	size_t looked;                    /* spans, since the clock was looked at */
	struct heap_bytes content;        /* of spans */
	uint8_t is_free[OBJECTS_MAX / 8]; /* objects of the span at hand */
};

static int put(struct walker *walker, remote_addr lo, remote_addr hi, enum heap_kind kind)
{
	const struct heap_piece piece = {.address = lo, .bytes = hi - lo, .kind = kind};

	return lo < hi ? walker->visitor->piece(walker->visitor->context, &piece) : 0;
}

static int trim(struct walker *walker, const struct heap_slab *span)
{
	return walker->visitor->trimmable
		       ? walker->visitor->trimmable(walker->visitor->context, span->lo, span->hi)
		       : 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The free objects of the span. False: the chain does not agree with the descriptor. */
static bool take_chain(struct walker *walker, const struct heap_slab *span,
		       const struct tcmalloc_descriptor *descriptor)
{
	const uint64_t size = walker->layout.size[span->tag];
	const uint64_t count = (span->hi - span->lo) / size;
	remote_addr at = descriptor->objects;
	uint64_t left = count - descriptor->used;

	if (descriptor->used > count || count > OBJECTS_MAX)
		return false;
	memset(walker->is_free, 0, (count + 7) / 8);
	for (; at && left; left--) {
		const uint64_t object = (at - span->lo) / size;

		if (at < span->lo || at >= span->hi || (at - span->lo) % size || object >= count ||
		    (walker->is_free[object / 8] >> object % 8 & 1) ||
		    !heap_bytes_has(&walker->content, at, HEAP_WORD))
			return false;
		walker->is_free[object / 8] |= (uint8_t)(1u << object % 8);
		at = heap_bytes_word(&walker->content, at);
	}
	return !at && !left;
}

/* Reads what the span has, with what followed it if that is not there yet. */
static int read_content(struct walker *walker, const struct heap_slab *span, bool again)
{
	const struct heap_slabs *slabs = &walker->slabs;
	const struct heap_slab *next = again ? NULL : heap_slabs_find(slabs, span->hi);
	remote_addr hi = span->hi;

	if (!again && heap_bytes_has(&walker->content, span->lo, span->hi - span->lo))
		return 0;
	for (; next && next < slabs->slab + slabs->count && next->lo == hi && next->tag &&
	       next->hi - span->lo <= CONTENT_BYTES;
	     next++)
		hi = next->hi;
	return heap_bytes_read(&walker->content, walker->source, span->lo, hi - span->lo);
}

/* 1: the free objects of the span are known. */
static int read_objects(struct walker *walker, const struct heap_slab *span)
{
	struct tcmalloc_descriptor descriptor;

	for (unsigned i = 0; i < TRIES; i++) {
		int err;

		if (i) {
			walker->slabs.reread++;
			heap_windows_drop(&walker->windows);
		}
		err = tcmalloc_descriptor_read(&walker->windows, span->descriptor, &descriptor);
		if (!err &&
		    (descriptor.page << walker->layout.page_shift != span->lo ||
		     descriptor.size_class != span->tag || descriptor.flags & TCMALLOC_LOCATION))
			continue;
		if (!err && descriptor.objects)
			err = read_content(walker, span, i);
		if (err)
			return err == -ENODATA ? 0 : err;
		if (take_chain(walker, span, &descriptor))
			return 1;
	}
	return 0;
}

static int walk_objects(struct walker *walker, const struct heap_slab *span)
{
	const uint64_t size = walker->layout.size[span->tag];
	const uint64_t count = (span->hi - span->lo) / size;
	const uint64_t first = heap_slabs_first(&walker->slabs, span);
	int err = read_objects(walker, span);

	if (err < 0)
		return err;
	if (!err)
		return put(walker, span->lo, span->hi, HEAP_UNSURE);
	err = 0;
	for (uint64_t i = 0; i < count && !err; i++)
		err = put(walker, span->lo + i * size, span->lo + (i + 1) * size,
			  walker->is_free[i / 8] >> i % 8 & 1
				  ? HEAP_FREE
				  : heap_slabs_kind(&walker->slabs, first, i));
	return err ? err : put(walker, span->lo + count * size, span->hi, HEAP_FREE);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static int walk_span(void *context, const struct heap_slab *span)
{
	struct walker *walker = context;
	struct tcmalloc_descriptor descriptor;
	int err;

	if (walker->looked++ % SPANS_A_LOOK == 0 && clock_now_ns() >= walker->source->deadline_ns)
		return -ETIMEDOUT;
	if (!span->descriptor)
		return put(walker, span->lo, span->hi, HEAP_UNSURE);
	if (span->blocks) {
		err = heap_visit_whole(walker->visitor, span->lo, span->hi);
		return err         ? err
		       : span->tag ? walk_objects(walker, span)
				   : put(walker, span->lo, span->hi, HEAP_USED);
	}
	err = tcmalloc_descriptor_read(&walker->windows, span->descriptor, &descriptor);
	if (!err)
		err = put(walker, span->lo, span->hi, HEAP_FREE);
	return !err && (descriptor.flags & TCMALLOC_LOCATION) == TCMALLOC_FREE ? trim(walker, span)
									       : err;
}

static int walk_spans(struct walker *walker)
{
	int err = heap_map_walk(&walker->map.map, &walker->slabs.reread, walk_span, walker);

	heap_slabs_sort_own(&walker->slabs);
	for (size_t i = 0; i < walker->slabs.own_count && !err; i++)
		err = put(walker, walker->slabs.own[i].lo, walker->slabs.own[i].hi, HEAP_METADATA);
	return err;
}

static int walk_all(struct walker *walker, const struct elf_image *image)
{
	char *refusal = walker->found->refusal;
	int err = image_data_read(&walker->data, walker->source, image);

	if (!err)
		err = tcmalloc_layout_find(&walker->windows, image, &walker->data, &walker->layout,
					   refusal);
	if (!err) {
		tcmalloc_map_open(&walker->map, &walker->windows, &walker->layout);
		err = tcmalloc_map_spans(&walker->map, &walker->slabs);
	}
	if (!err)
		err = tcmalloc_caches_mark(&walker->slabs, &walker->windows, &walker->layout,
					   &walker->data);
	if (err == -EPROTO && !*refusal)
		snprintf(refusal, HEAP_TEXT_MAX,
			 "the layout of this version is not known: no caches of threads");
	return err ? err : walk_spans(walker);
}

int tcmalloc_heap_walk(struct heap_source *source, const struct elf_image *image,
		       const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	int err;

	if (!walker)
		return -ENOMEM;
	strcpy(out_found->name, "tcmalloc");
	out_found->arenas = 1;
	walker->source = walker->windows.source = source;
	walker->visitor = visitor;
	walker->found = out_found;
	err = walk_all(walker, image);
	out_found->reread = walker->slabs.reread;
	heap_bytes_close(&walker->content);
	heap_slabs_close(&walker->slabs);
	tcmalloc_layout_close(&walker->layout);
	image_data_close(&walker->data);
	heap_windows_close(&walker->windows);
	free(walker);
	return err == -EPROTO ? 0 : err;
}
