/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_heap.c - reader of mimalloc: walks the pages of all segments, whichever thread's they
 * are, and also those that nobody owns or that are kept for later.
 *
 * A page's entry and its blocks are read one after the other, while its thread allocates and frees.
 * Where the lists do not agree with the entry both are read again, and a page that never agrees is
 * unsure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mimalloc_blocks.h"
#include "mimalloc_segments.h"
#include "mimalloc_trim.h"

#define TRIES 4u
#define TABLES_MAX 256u /* so often the table of a segment is read again */

struct walker {
	struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct mimalloc_segments segments;
	struct mimalloc_delayed delayed;
	struct mimalloc_blocks blocks;
	struct mimalloc_trim trim;
	bool has_start_rule; /* not all rules fit the pages */
};

/* ---- what all segments say together ---------------------------------------------------------- */

typedef int page_visit(struct walker *walker, struct mimalloc_page *page, void *context);

/* All pages of the segment whose table is at hand. */
static int visit_pages(struct walker *walker, remote_addr at, const struct mimalloc_head *head,
		       page_visit *visit, void *context)
{
	uint32_t span = 0;
	int err = 0;

	for (uint32_t i = head->info_slices; i < head->entries && !err; i += span) {
		struct mimalloc_page page;

		span = mimalloc_span(&walker->segments.table, at, &walker->segments.layout, i);
		if (!span)
			break;
		if (mimalloc_page_parse(&walker->segments.table, at, &walker->segments.layout, i,
					&page))
			err = visit(walker, &page, context);
	}
	return err;
}

struct survey {
	uint64_t pages, misfits[MIMALLOC_STARTS];
};

static int survey_page(struct walker *walker, struct mimalloc_page *page, void *context)
{
	struct survey *survey = context;

	if (page->capacity && !walker->segments.layout.has_start) {
		survey->pages++;
		for (unsigned rule = 0; rule < MIMALLOC_STARTS; rule++) {
			bool fits = mimalloc_page_set_start(page, rule);
			const remote_addr block = page->free ? page->free : page->local_free;

			if (block)
				fits &= block >= page->start &&
					(block - page->start) % page->block_bytes == 0;
			survey->misfits[rule] += !fits;
		}
	}
	return mimalloc_delayed_add(&walker->delayed, walker->source, &walker->segments.layout,
				    page->heap);
}

/* Finds where pages begin, and the lists of all heaps. */
static int survey_all(struct walker *walker)
{
	struct survey survey = {0};
	unsigned best = 0;
	int err = 0;

	for (size_t i = 0; i < walker->segments.count && !err; i++) {
		struct mimalloc_head head;

		if (clock_now_ns() >= walker->source->deadline_ns)
			return -ETIMEDOUT;
		err = mimalloc_segments_read(&walker->segments, walker->segments.segment[i], &head);
		if (!err && head.used)
			err = visit_pages(walker, walker->segments.segment[i], &head, survey_page,
					  &survey);
		err = err == -EAGAIN ? 0 : err;
	}
	mimalloc_delayed_sort(&walker->delayed);
	for (unsigned rule = 1; rule < MIMALLOC_STARTS; rule++)
		if (survey.misfits[rule] < survey.misfits[best])
			best = rule;
	walker->segments.layout.start = best;
	walker->has_start_rule =
		survey.misfits[MIMALLOC_START_OF_SIZE] != survey.misfits[MIMALLOC_START_384];
	if (err || survey.misfits[best] <= survey.pages / 8)
		return err;
	snprintf(walker->found->refusal, sizeof(walker->found->refusal),
		 "where its pages begin is not known");
	return -EPROTO;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static int put(struct walker *walker, remote_addr lo, remote_addr hi, enum heap_kind kind)
{
	const struct heap_piece piece = {.address = lo, .bytes = hi - lo, .kind = kind};

	return lo < hi ? walker->visitor->piece(walker->visitor->context, &piece) : 0;
}

static int put_block(struct walker *walker, const struct mimalloc_page *page, uint32_t index)
{
	const bool is_free = mimalloc_blocks_is_free(&walker->blocks, index);
	struct heap_piece piece = {
		.address = page->start + index * page->block_bytes,
		.bytes = page->block_bytes,
		.kind = is_free ? HEAP_FREE : HEAP_USED,
	};

	if (!is_free)
		piece.tail_bytes = mimalloc_blocks_tail(&walker->blocks, walker->source,
							&walker->segments.layout, page, index);
	piece.bytes -= piece.tail_bytes;
	return walker->visitor->piece(walker->visitor->context, &piece);
}

static int put_page(struct walker *walker, const struct mimalloc_page *page)
{
	const remote_addr end = page->start + page->capacity * page->block_bytes;
	int err = put(walker, page->lo, page->start, HEAP_METADATA);

	for (uint32_t i = 0; i < page->capacity && !err; i++)
		err = put_block(walker, page, i);
	return err ? err : put(walker, end, page->hi, HEAP_FREE);
}

/* Of a page whose lists do not agree, what was never a block is free all the same. */
static int put_unsure(struct walker *walker, const struct mimalloc_page *page)
{
	const uint64_t bytes = page->capacity * page->block_bytes;
	int err;

	if (page->start < page->lo || page->start > page->hi || bytes > page->hi - page->start)
		return put(walker, page->lo, page->hi, HEAP_UNSURE);
	err = put(walker, page->lo, page->start, HEAP_METADATA);
	if (!err)
		err = put(walker, page->start, page->start + bytes, HEAP_UNSURE);
	return err ? err : put(walker, page->start + bytes, page->hi, HEAP_FREE);
}

static int read_blocks(struct walker *walker, struct mimalloc_page *page)
{
	if (!walker->segments.layout.has_start &&
	    !mimalloc_page_set_start(page, walker->segments.layout.start))
		return -EAGAIN;
	return mimalloc_blocks_read(&walker->blocks, walker->source, &walker->segments.layout, page,
				    &walker->delayed);
}

/* Reads the page's entry in the table again. False: it is another one now. */
static bool read_again(struct walker *walker, remote_addr segment, uint32_t index,
		       struct mimalloc_page *page)
{
	uint8_t byte[128];
	struct heap_bytes entry = {.byte = byte, .room = sizeof(byte)};
	struct mimalloc_page again;

	walker->found->reread++;
	if (heap_bytes_read(&entry, walker->source, page->at,
			    walker->segments.layout.slice_bytes) ||
	    !mimalloc_page_parse(&entry, segment, &walker->segments.layout, index, &again) ||
	    again.hi != page->hi)
		return false;
	*page = again;
	return true;
}

/* -ESTALE: there is another page now, or none. Nothing was put then. */
static int walk_page(struct walker *walker, remote_addr segment, uint32_t index,
		     struct mimalloc_page *page)
{
	int err = read_blocks(walker, page);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		if (!read_again(walker, segment, index, page))
			return -ESTALE;
		err = read_blocks(walker, page);
	}
	if (err && err != -EAGAIN)
		return err;
	const bool is_sure = !err;

	err = walker->trim.is_whole ? 0 : heap_visit_whole(walker->visitor, page->lo, page->hi);
	if (err)
		return err;
	if (!is_sure)
		return put_unsure(walker, page);
	if (walker->blocks.free_count == page->capacity)
		mimalloc_trim_add(&walker->trim, index,
				  (uint32_t)((page->hi - page->lo) / MIMALLOC_SLICE_BYTES), page);
	return put_page(walker, page);
}

static int put_free(struct walker *walker, uint32_t index, uint32_t slices, remote_addr at)
{
	mimalloc_trim_add(&walker->trim, index, slices, NULL);
	return put(walker, at, at + (uint64_t)slices * MIMALLOC_SLICE_BYTES, HEAP_FREE);
}

struct progress {
	remote_addr segment;
	struct mimalloc_head head;
	uint32_t index; /* all slices before it were walked */
	unsigned again; /* how often the table was read again */
};

static remote_addr address_of(const struct progress *progress, uint32_t index)
{
	return progress->segment + (uint64_t)index * MIMALLOC_SLICE_BYTES;
}

/* The next slice, from the one at hand on, with which a span begins. */
static uint32_t next_begin(const struct walker *walker, const struct progress *progress)
{
	uint32_t index = progress->head.info_slices;

	while (index < progress->index) {
		const uint32_t span = mimalloc_span(&walker->segments.table, progress->segment,
						    &walker->segments.layout, index);

		if (!span)
			break;
		index += span;
	}
	return index < progress->index ? progress->head.entries : index;
}

/* After the page at hand turned out to be another one: the table is read again. */
static int read_table_again(struct walker *walker, struct progress *progress)
{
	const remote_addr at = address_of(progress, progress->index);
	uint32_t next = progress->head.entries;
	struct mimalloc_head head;
	int err = -EAGAIN;

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++)
		err = mimalloc_segments_read(&walker->segments, progress->segment, &head);
	if (!err && head.used && head.entries == progress->head.entries)
		next = next_begin(walker, progress);
	if (err && err != -EAGAIN)
		return err;
	if (++progress->again == TABLES_MAX)
		next = progress->head.entries;
	progress->index = next;
	return put(walker, at, address_of(progress, next), HEAP_UNSURE);
}

static int walk_span(struct walker *walker, struct progress *progress)
{
	const uint32_t index = progress->index;
	const uint32_t span = mimalloc_span(&walker->segments.table, progress->segment,
					    &walker->segments.layout, index);
	struct mimalloc_page page;
	int err;

	if (mimalloc_page_parse(&walker->segments.table, progress->segment,
				&walker->segments.layout, index, &page))
		err = walk_page(walker, progress->segment, index, &page);
	else
		err = put_free(walker, index, span, address_of(progress, index));
	if (err == -ESTALE)
		return read_table_again(walker, progress);
	progress->index += span;
	return err;
}

static int walk_spans(struct walker *walker, struct progress *progress)
{
	const struct mimalloc_head *head = &progress->head;
	const remote_addr hi = progress->segment + mimalloc_segment_bytes(head);
	int err = put(walker, progress->segment, address_of(progress, head->info_slices),
		      HEAP_METADATA);

	progress->index = head->info_slices;
	while (!err && progress->index < head->entries) {
		if (clock_now_ns() >= walker->source->deadline_ns)
			return -ETIMEDOUT;
		err = walk_span(walker, progress);
	}
	return err ? err : put(walker, address_of(progress, progress->index), hi, HEAP_METADATA);
}

static int walk_segment(struct walker *walker, remote_addr segment)
{
	struct progress progress = {.segment = segment};
	const struct mimalloc_head *head = &progress.head;
	int err = mimalloc_segments_read(&walker->segments, segment, &progress.head);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		walker->found->reread++;
		err = mimalloc_segments_read(&walker->segments, segment, &progress.head);
	}
	if (err == -EAGAIN) /* it is gone, or on its way */
		return 0;
	if (err)
		return err;
	mimalloc_trim_begin(&walker->trim, segment, head, &walker->segments.table,
			    &walker->segments.layout);
	if (walker->trim.is_whole)
		err = heap_visit_whole(walker->visitor, segment,
				       segment + mimalloc_segment_bytes(head));
	if (!err)
		err = head->used ? walk_spans(walker, &progress)
				 : put(walker, segment, segment + mimalloc_segment_bytes(head),
				       HEAP_FREE);
	return err ? err : mimalloc_trim_end(&walker->trim, walker->visitor);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int walk_all(struct walker *walker)
{
	int err = survey_all(walker);
	for (size_t i = 0; i < walker->segments.count && !err; i++)
		err = walk_segment(walker, walker->segments.segment[i]);
	return err;
}

static const char *name_of(const struct walker *walker)
{
	static const char *const by_start[] = {
		[MIMALLOC_START_384] = "mimalloc 2.0",
		[MIMALLOC_START_128] = "mimalloc 2.0",
		[MIMALLOC_START_OF_SIZE] = "mimalloc 2.1",
	};

	if (walker->segments.layout.has_start)
		return "mimalloc 2.1 or later";
	return walker->has_start_rule ? by_start[walker->segments.layout.start] : "mimalloc 2";
}

int mimalloc_heap_walk(struct heap_source *source, const struct elf_image *image,
		       const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker walker = {.source = source, .visitor = visitor, .found = out_found};
	int err = mimalloc_segments_find(source, image, &walker.segments, out_found->refusal);

	strcpy(out_found->name, "mimalloc");
	out_found->arenas = 1;
	if (!err)
		err = walk_all(&walker);
	if (!err)
		strcpy(out_found->name, name_of(&walker));
	mimalloc_delayed_close(&walker.delayed);
	mimalloc_blocks_close(&walker.blocks);
	mimalloc_segments_close(&walker.segments);
	return err == -EPROTO ? 0 : err;
}
