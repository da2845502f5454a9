/* SPDX-License-Identifier: MIT */
/* tcmalloc_spans.c - see tcmalloc_spans.h. */
#include "tcmalloc_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define TRIES 4u
#define SPANS_A_LOOK 1024u /* at the clock */
#define OWN_GAP 4096u      /* between ranges that are joined: of freed descriptors */

struct reader {
	struct tcmalloc_spans *spans;
	struct heap_windows *windows;
	const struct tcmalloc_layout *layout;
	uint64_t page; /* the next one; before it all is known */
	bool is_after_span;
};

static int add_span(struct tcmalloc_spans *spans, const struct tcmalloc_span *span)
{
	if (spans->count == spans->room) {
		const size_t room = spans->room ? 2 * spans->room : 1024;
		struct tcmalloc_span *grown = realloc(spans->span, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		spans->span = grown;
		spans->room = room;
	}
	spans->span[spans->count++] = *span;
	return 0;
}

int tcmalloc_spans_add_own(struct tcmalloc_spans *spans, remote_addr lo, remote_addr hi)
{
	struct tcmalloc_own *last = spans->own_count ? &spans->own[spans->own_count - 1] : NULL;

	if (last && lo <= last->hi + OWN_GAP && hi + OWN_GAP >= last->lo) {
		last->lo = lo < last->lo ? lo : last->lo;
		last->hi = hi > last->hi ? hi : last->hi;
		return 0;
	}
	if (spans->own_count == spans->own_room) {
		const size_t room = spans->own_room ? 2 * spans->own_room : 64;
		struct tcmalloc_own *grown = realloc(spans->own, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		spans->own = grown;
		spans->own_room = room;
	}
	spans->own[spans->own_count++] = (struct tcmalloc_own){lo, hi};
	return 0;
}

static int compare_own(const void *a, const void *b)
{
	const struct tcmalloc_own *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

void tcmalloc_spans_sort_own(struct tcmalloc_spans *spans)
{
	size_t count = 0;

	if (spans->own_count)
		qsort(spans->own, spans->own_count, sizeof(*spans->own), compare_own);
	for (size_t i = 0; i < spans->own_count; i++) {
		struct tcmalloc_own *last = count ? &spans->own[count - 1] : NULL;

		if (!last || spans->own[i].lo > last->hi + OWN_GAP)
			spans->own[count++] = spans->own[i];
		else if (spans->own[i].hi > last->hi)
			last->hi = spans->own[i].hi;
	}
	spans->own_count = count;
}

/* ---- the map --------------------------------------------------------------------------------- */

/* The descriptor of the span that begins at the page. False: there is none. */
static int read_span(struct reader *reader, remote_addr leaf, bool *out_is_there,
		     remote_addr *out_at, struct tcmalloc_descriptor *descriptor)
{
	const uint64_t slot = reader->page & ((1ull << reader->layout->leaf_bits) - 1);
	int err = heap_windows_word(reader->windows, leaf + slot * TCMALLOC_WORD, out_at);

	*out_is_there = false;
	if (!err && *out_at % TCMALLOC_WORD == 0 && *out_at)
		err = tcmalloc_descriptor_read(reader->windows, *out_at, descriptor);
	if (err)
		return err == -ENODATA ? 0 : err;
	*out_is_there = *out_at && *out_at % TCMALLOC_WORD == 0 &&
			descriptor->page == reader->page &&
			tcmalloc_descriptor_is_valid(reader->layout, descriptor);
	return 0;
}

static int take_span(struct reader *reader, remote_addr at,
		     const struct tcmalloc_descriptor *descriptor)
{
	const struct tcmalloc_layout *layout = reader->layout;
	const bool is_used = (descriptor->flags & TCMALLOC_LOCATION) == TCMALLOC_IN_USE;
	struct tcmalloc_span span = {
		.lo = descriptor->page << layout->page_shift,
		.hi = (descriptor->page + descriptor->pages) << layout->page_shift,
		.descriptor = at,
		.size_class = is_used ? descriptor->size_class : 0,
		.first = reader->spans->objects,
	};
	int err = add_span(reader->spans, &span);

	if (span.size_class)
		reader->spans->objects += (span.hi - span.lo) / layout->size[span.size_class];
	if (!err)
		err = tcmalloc_spans_add_own(reader->spans, at, at + TCMALLOC_DESCRIPTOR_BYTES);
	reader->page += descriptor->pages;
	reader->is_after_span = true;
	return err;
}

/* A page of the heap of which it is not known to what span it belongs. */
static int take_unknown(struct reader *reader)
{
	struct tcmalloc_spans *spans = reader->spans;
	const remote_addr lo = reader->page << reader->layout->page_shift;
	const remote_addr hi = lo + (1ull << reader->layout->page_shift);
	struct tcmalloc_span *last = spans->count ? &spans->span[spans->count - 1] : NULL;

	reader->page++;
	if (last && !last->descriptor && last->hi == lo) {
		last->hi = hi;
		return 0;
	}
	return add_span(spans, &(struct tcmalloc_span){.lo = lo, .hi = hi});
}

/* What is at the page, and goes on behind it. */
static int take_page(struct reader *reader, remote_addr leaf)
{
	struct tcmalloc_descriptor descriptor = {0};
	remote_addr at = 0;
	bool is_there = false;
	int err = 0;

	for (unsigned i = 0; i < TRIES && !err; i++) {
		err = read_span(reader, leaf, &is_there, &at, &descriptor);
		/* behind a span may be a newer one, else nothing */
		if (err || is_there || (!at && !reader->is_after_span))
			break;
		reader->spans->reread += at != 0;
		heap_windows_drop(reader->windows);
		if (!at)
			reader->is_after_span = false;
	}
	if (err)
		return err;
	if (is_there)
		return take_span(reader, at, &descriptor);
	reader->is_after_span = false;
	if (at)
		return take_unknown(reader);
	reader->page++;
	return 0;
}

static int read_leaf(struct reader *reader, remote_addr leaf, uint64_t page)
{
	const uint64_t end = page + (1ull << reader->layout->leaf_bits);
	int err = 0;

	if (reader->page < page)
		reader->page = page;
	for (unsigned i = 0; reader->page < end && !err; i++) {
		if (i % SPANS_A_LOOK == 0 && clock_now_ns() >= reader->windows->source->deadline_ns)
			return -ETIMEDOUT;
		err = take_page(reader, leaf);
	}
	return err;
}

int tcmalloc_spans_read(struct tcmalloc_spans *spans, struct heap_windows *windows,
			const struct tcmalloc_layout *layout, const struct image_data *data)
{
	struct reader reader = {.spans = spans, .windows = windows, .layout = layout};
	const struct heap_bytes *bytes =
		image_data_find(data, layout->root, TCMALLOC_WORD << layout->root_bits);
	const size_t leaf_bytes = TCMALLOC_WORD << layout->leaf_bits;
	int err = 0;

	for (uint64_t i = 0; i < 1ull << layout->root_bits && !err; i++) {
		const remote_addr leaf = heap_bytes_word(bytes, layout->root + i * TCMALLOC_WORD);

		if (!leaf)
			continue;
		err = tcmalloc_spans_add_own(spans, leaf, leaf + leaf_bytes);
		if (!err)
			err = read_leaf(&reader, leaf, i << layout->leaf_bits);
	}
	if (!err) {
		spans->marks = calloc(1, spans->objects / 4 + 1);
		err = spans->marks ? 0 : -ENOMEM;
	}
	return err;
}

/* ---- objects --------------------------------------------------------------------------------- */

const struct tcmalloc_span *tcmalloc_spans_find(const struct tcmalloc_spans *spans, remote_addr at)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (spans->span[middle].hi <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < spans->count && spans->span[low].lo <= at ? &spans->span[low] : NULL;
}

uint64_t tcmalloc_spans_object(const struct tcmalloc_spans *spans,
			       const struct tcmalloc_layout *layout, remote_addr at,
			       unsigned size_class)
{
	const struct tcmalloc_span *span = tcmalloc_spans_find(spans, at);

	if (!span || !size_class || span->size_class != size_class ||
	    (at - span->lo) % layout->size[size_class] || span->hi - at < layout->size[size_class])
		return UINT64_MAX;
	return span->first + (at - span->lo) / layout->size[size_class];
}

void tcmalloc_spans_close(struct tcmalloc_spans *spans)
{
	free(spans->span);
	free(spans->marks);
	free(spans->own);
	*spans = (struct tcmalloc_spans){0};
}
