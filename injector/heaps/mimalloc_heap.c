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
#include "mimalloc_trim.h"
#include "steps.h"

#define TRIES 4u
#define CANDIDATES_MAX (1u << 18) /* addresses where a segment may be: 8 TB of mappings */

struct walker {
	struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct mimalloc_main main;
	struct mimalloc_layout layout;
	struct mimalloc_delayed delayed;
	struct mimalloc_blocks blocks;
	struct mimalloc_trim trim;
	struct heap_bytes table; /* of the segment at hand, with its head */
	remote_addr *segment;    /* by address */
	size_t count, room;
	bool has_pages;      /* one of them does */
	bool has_start_rule; /* not all rules fit them */
};

/* ---- segments -------------------------------------------------------------------------------- */

static size_t table_bytes(const struct mimalloc_layout *layout)
{
	const size_t slice_bytes = layout->slice_bytes ? layout->slice_bytes : 112;

	return layout->table_at + (MIMALLOC_SLICES_MAX + 1) * slice_bytes;
}

/* Reads the head and the table of a segment. -EAGAIN: they make no sense. */
static int read_segment(struct walker *walker, remote_addr at, struct mimalloc_head *out_head)
{
	int err = heap_bytes_read(&walker->table, walker->source, at, table_bytes(&walker->layout));

	if (err)
		return err;
	return heap_bytes_has(&walker->table, at, MIMALLOC_HEAD_BYTES) &&
			       mimalloc_head_parse(&walker->main, walker->table.byte, at,
						   &walker->layout, out_head) &&
			       (!out_head->used ||
				mimalloc_table_parse(&walker->table, at, out_head, &walker->layout))
		       ? 0
		       : -EAGAIN;
}

static int add_segment(struct walker *walker, remote_addr at)
{
	if (walker->count == walker->room) {
		const size_t room = walker->room ? 2 * walker->room : 64;
		remote_addr *grown = realloc(walker->segment, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		walker->segment = grown;
		walker->room = room;
	}
	walker->segment[walker->count++] = at;
	return 0;
}

static uint64_t segment_bytes(const struct mimalloc_head *head)
{
	return head->slices * MIMALLOC_SLICE_BYTES;
}

/* If there is a segment at *at: adds it. Advances *at beyond it. */
static int try_address(struct walker *walker, remote_addr *at)
{
	uint8_t byte[MIMALLOC_HEAD_BYTES];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};
	struct mimalloc_head head;
	const remote_addr here = *at;
	int err = heap_bytes_read(&bytes, walker->source, here, sizeof(byte));

	*at += MIMALLOC_SEGMENT_BYTES;
	if (err || !heap_bytes_has(&bytes, here, sizeof(byte)) ||
	    !mimalloc_head_parse(&walker->main, byte, here, &walker->layout, &head) ||
	    !maps_find(walker->source->maps, here + segment_bytes(&head) - 1))
		return err;
	*at = here + (segment_bytes(&head) + MIMALLOC_SEGMENT_BYTES - 1) / MIMALLOC_SEGMENT_BYTES *
			     MIMALLOC_SEGMENT_BYTES;
	err = add_segment(walker, here);
	walker->has_pages |= head.used != 0;
	/* the first one that has pages shows how tables are laid out */
	if (!err && !walker->layout.slice_bytes && head.used)
		err = read_segment(walker, here, &head);
	return err == -EAGAIN ? 0 : err;
}

static int find_segments(struct walker *walker)
{
	const struct maps *maps = walker->source->maps;
	struct steps steps = {CANDIDATES_MAX};
	remote_addr at = 0;
	int err = 0;

	for (size_t i = 0; i < maps->count && !err; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (!mapping->writable || mapping->shared || mapping->inode)
			continue;
		if (at < mapping->lo)
			at = (mapping->lo + MIMALLOC_SEGMENT_BYTES - 1) / MIMALLOC_SEGMENT_BYTES *
			     MIMALLOC_SEGMENT_BYTES;
		while (!err && at < mapping->hi && steps_take(&steps))
			err = try_address(walker, &at);
	}
	return err;
}

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

		span = mimalloc_span(&walker->table, at, &walker->layout, i);
		if (!span)
			break;
		if (mimalloc_page_parse(&walker->table, at, &walker->layout, i, &page))
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

	if (page->capacity && !walker->layout.has_start) {
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
	return mimalloc_delayed_add(&walker->delayed, walker->source, &walker->layout, page->heap);
}

/* Finds where pages begin, and the lists of all heaps. */
static int survey_all(struct walker *walker)
{
	struct survey survey = {0};
	unsigned best = 0;
	int err = 0;

	for (size_t i = 0; i < walker->count && !err; i++) {
		struct mimalloc_head head;

		if (clock_now_ns() >= walker->source->deadline_ns)
			return -ETIMEDOUT;
		err = read_segment(walker, walker->segment[i], &head);
		if (!err && head.used)
			err = visit_pages(walker, walker->segment[i], &head, survey_page, &survey);
		err = err == -EAGAIN ? 0 : err;
	}
	mimalloc_delayed_sort(&walker->delayed);
	for (unsigned rule = 1; rule < MIMALLOC_STARTS; rule++)
		if (survey.misfits[rule] < survey.misfits[best])
			best = rule;
	walker->layout.start = best;
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
							&walker->layout, page, index);
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
	if (!walker->layout.has_start && !mimalloc_page_set_start(page, walker->layout.start))
		return -EAGAIN;
	return mimalloc_blocks_read(&walker->blocks, walker->source, &walker->layout, page,
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
	if (heap_bytes_read(&entry, walker->source, page->at, walker->layout.slice_bytes) ||
	    !mimalloc_page_parse(&entry, segment, &walker->layout, index, &again) ||
	    again.hi != page->hi)
		return false;
	*page = again;
	return true;
}

static int walk_page(struct walker *walker, remote_addr segment, uint32_t index,
		     struct mimalloc_page *page)
{
	int err = read_blocks(walker, page);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		if (!read_again(walker, segment, index, page))
			break;
		err = read_blocks(walker, page);
	}
	if (err == -EAGAIN)
		return put_unsure(walker, page);
	if (!err && walker->blocks.free_count == page->capacity)
		mimalloc_trim_add(&walker->trim, index,
				  (uint32_t)((page->hi - page->lo) / MIMALLOC_SLICE_BYTES), page);
	return err ? err : put_page(walker, page);
}

static int put_free(struct walker *walker, uint32_t index, uint32_t slices, remote_addr at)
{
	mimalloc_trim_add(&walker->trim, index, slices, NULL);
	return put(walker, at, at + (uint64_t)slices * MIMALLOC_SLICE_BYTES, HEAP_FREE);
}

static int walk_spans(struct walker *walker, remote_addr segment, const struct mimalloc_head *head)
{
	remote_addr at = segment + (uint64_t)head->info_slices * MIMALLOC_SLICE_BYTES;
	uint32_t span = 0;
	int err = put(walker, segment, at, HEAP_METADATA);

	for (uint32_t i = head->info_slices; i < head->entries && !err; i += span) {
		struct mimalloc_page page;

		span = mimalloc_span(&walker->table, segment, &walker->layout, i);
		if (clock_now_ns() >= walker->source->deadline_ns)
			return -ETIMEDOUT;
		if (mimalloc_page_parse(&walker->table, segment, &walker->layout, i, &page))
			err = walk_page(walker, segment, i, &page);
		else
			err = put_free(walker, i, span, at);
		at += (uint64_t)span * MIMALLOC_SLICE_BYTES;
	}
	return err ? err : put(walker, at, segment + segment_bytes(head), HEAP_METADATA);
}

static int walk_segment(struct walker *walker, remote_addr segment)
{
	struct mimalloc_head head;
	int err = read_segment(walker, segment, &head);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		walker->found->reread++;
		err = read_segment(walker, segment, &head);
	}
	if (err == -EAGAIN) /* it is gone, or on its way */
		return 0;
	if (err)
		return err;
	mimalloc_trim_begin(&walker->trim, segment, &head, &walker->table, &walker->layout);
	err = head.used ? walk_spans(walker, segment, &head)
			: put(walker, segment, segment + segment_bytes(&head), HEAP_FREE);
	return err ? err : mimalloc_trim_end(&walker->trim, walker->visitor);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int refuse(struct walker *walker, const char *text)
{
	snprintf(walker->found->refusal, sizeof(walker->found->refusal), "%s", text);
	return -EPROTO;
}

static int walk_all(struct walker *walker)
{
	int err = find_segments(walker);

	if (err)
		return err;
	if (!walker->count)
		return walker->main.was_used
			       ? refuse(walker, "it has no segments as of mimalloc 2.0 to 2.2")
			       : -ENOENT;
	if (!walker->layout.slice_bytes && walker->has_pages)
		return refuse(walker, "how its segments are laid out is not known");
	err = survey_all(walker);
	for (size_t i = 0; i < walker->count && !err; i++)
		err = walk_segment(walker, walker->segment[i]);
	return err;
}

static const char *name_of(const struct walker *walker)
{
	static const char *const by_start[] = {
		[MIMALLOC_START_384] = "mimalloc 2.0",
		[MIMALLOC_START_128] = "mimalloc 2.0",
		[MIMALLOC_START_OF_SIZE] = "mimalloc 2.1",
	};

	if (walker->layout.has_start)
		return "mimalloc 2.1 or later";
	return walker->has_start_rule ? by_start[walker->layout.start] : "mimalloc 2";
}

int mimalloc_heap_walk(struct heap_source *source, const struct elf_image *image,
		       const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker walker = {.source = source, .visitor = visitor, .found = out_found};
	int err = mimalloc_main_find(source, image, &walker.main);

	strcpy(out_found->name, "mimalloc");
	out_found->arenas = 1;
	if (err == -ENOENT)
		err = refuse(&walker, "its heap was not found");
	else if (!err && !walker.main.count)
		err = refuse(&walker, "mimalloc 3 is not known");
	if (!err)
		err = walk_all(&walker);
	if (!err)
		strcpy(out_found->name, name_of(&walker));
	mimalloc_main_close(&walker.main);
	mimalloc_delayed_close(&walker.delayed);
	mimalloc_blocks_close(&walker.blocks);
	heap_bytes_close(&walker.table);
	free(walker.segment);
	return err == -EPROTO ? 0 : err;
}
