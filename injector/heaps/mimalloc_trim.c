/* SPDX-License-Identifier: MIT */
/* mimalloc_trim.c - see mimalloc_trim.h. */
#include "mimalloc_trim.h"

#include <string.h>

/* struct mi_segment_s: the same in all releases that are known */
#define SEGMENT_DUE_TIME 40u
#define SEGMENT_DUE 48u
#define SEGMENT_COMMITTED 112u

static bool is_set(const uint64_t *mask, uint32_t slice)
{
	return mask[slice / 64] >> slice % 64 & 1;
}

static void set(uint64_t *mask, uint32_t slice)
{
	mask[slice / 64] |= 1ull << slice % 64;
}

void mimalloc_trim_begin(struct mimalloc_trim *trim, remote_addr segment,
			 const struct mimalloc_head *head, const struct heap_bytes *table,
			 const struct mimalloc_layout *layout)
{
	*trim = (struct mimalloc_trim){
		.segment = segment,
		.head = *head,
		.is_collected = !head->thread || head->thread == layout->main_thread,
		.is_whole = head->is_huge || (layout->has_keys && !layout->has_start &&
					      layout->start != MIMALLOC_START_OF_SIZE),
		.looks_always = layout->has_start,
		.was_due = heap_bytes_word(table, segment + SEGMENT_DUE_TIME) != 0,
		.first_order = UINT64_MAX,
	};
	for (unsigned i = 0; i < MIMALLOC_SLICES_MAX / 64; i++) {
		const remote_addr word = segment + i * MIMALLOC_WORD;

		trim->due[i] = heap_bytes_word(table, word + SEGMENT_DUE);
		trim->committed[i] = heap_bytes_word(table, word + SEGMENT_COMMITTED);
	}
}

/* Pages are freed in the order of their sizes, those of threads that are gone by address. */
static uint64_t order_of(const struct mimalloc_trim *trim, uint32_t index,
			 const struct mimalloc_page *page)
{
	if (!trim->head.thread)
		return index;
	return page ? page->block_bytes | (uint64_t)!page->is_retired << 63 : UINT64_MAX;
}

void mimalloc_trim_add(struct mimalloc_trim *trim, uint32_t index, uint32_t slices,
		       const struct mimalloc_page *page)
{
	const uint64_t order = order_of(trim, index, page);

	trim->free_pages += page != NULL;
	for (uint32_t i = index; i < index + slices && i < MIMALLOC_SLICES_MAX; i++) {
		if (!page)
			set(trim->is_free, i);
		else if (trim->looks_always)
			set(trim->due, i);
	}
	if (order < trim->first_order) {
		trim->first_order = order;
		trim->first = index;
		trim->first_slices = slices;
	}
}

/* What is due after the first page was freed, which is joined with what is free around it. */
static void join_first(struct mimalloc_trim *trim)
{
	const uint32_t end = trim->first + trim->first_slices;

	for (uint32_t i = trim->first;
	     i < MIMALLOC_SLICES_MAX && (i < end || is_set(trim->is_free, i)); i++)
		set(trim->due, i);
	for (uint32_t i = trim->first; i && is_set(trim->is_free, i - 1); i--)
		set(trim->due, i - 1);
}

int mimalloc_trim_end(struct mimalloc_trim *trim, const struct heap_visitor *visitor)
{
	const remote_addr hi = trim->segment + trim->head.slices * MIMALLOC_SLICE_BYTES;
	uint32_t begin = 0;
	int err = 0;

	if (!visitor->trimmable || (trim->head.used && !trim->is_collected))
		return 0;
	if (trim->head.used <= trim->free_pages)
		return visitor->trimmable(visitor->context, trim->segment, hi);
	if (trim->is_whole ||
	    (!trim->looks_always && (!trim->was_due || trim->first_order == UINT64_MAX)))
		return 0;
	if (!trim->looks_always)
		join_first(trim);
	for (uint32_t i = 0; i <= MIMALLOC_SLICES_MAX && !err; i++) {
		if (i < MIMALLOC_SLICES_MAX && is_set(trim->due, i) && is_set(trim->committed, i))
			continue;
		if (begin < i)
			err = visitor->trimmable(
				visitor->context,
				trim->segment + (uint64_t)begin * MIMALLOC_SLICE_BYTES,
				trim->segment + (uint64_t)i * MIMALLOC_SLICE_BYTES);
		begin = i + 1;
	}
	return err;
}
