/* SPDX-License-Identifier: MIT */
/* mimalloc_table.c - see mimalloc_table.h. The layouts are those of struct mi_page_s. */
#include "mimalloc_table.h"

#include <string.h>

/* struct mi_page_s */
#define PAGE_SLICE_COUNT 0u
#define PAGE_SLICE_OFFSET 4u
#define PAGE_CAPACITY 10u
#define PAGE_RESERVED 12u
#define PAGE_RETIRED 15u /* but for one bit */
#define PAGE_FREE 16u
#define PAGE_KEY 40u /* where pages do not say where their blocks begin */
#define PAGE_USED 24u
#define PAGE_BLOCK_BYTES 28u
#define PAGE_LOCAL_FREE 32u
#define START_PAGE_LOCAL_FREE 24u /* where they do */
#define START_PAGE_USED 32u
#define START_PAGE_BLOCK_BYTES 40u
#define START_PAGE_START 48u
#define START_PAGE_KEY 56u
#define KEYS_BYTES 16u

#define BLOCK_BYTES_HUGE (2ull << 30) /* or more: then the block is the page */
#define THREAD_FREE_FLAGS 3u

static remote_addr entry_of(remote_addr segment, const struct mimalloc_layout *layout,
			    uint32_t index)
{
	return segment + layout->table_at + (uint64_t)index * layout->slice_bytes;
}

static uint32_t half_at(const struct heap_bytes *bytes, remote_addr at)
{
	uint32_t half;

	memcpy(&half, bytes->byte + (at - bytes->lo), sizeof(half));
	return half;
}

static uint16_t quarter_at(const struct heap_bytes *bytes, remote_addr at)
{
	uint16_t quarter;

	memcpy(&quarter, bytes->byte + (at - bytes->lo), sizeof(quarter));
	return quarter;
}

uint32_t mimalloc_span(const struct heap_bytes *table, remote_addr segment,
		       const struct mimalloc_layout *layout, uint32_t index)
{
	const remote_addr at = entry_of(segment, layout, index);

	if (!heap_bytes_has(table, at, layout->slice_bytes) ||
	    half_at(table, at + PAGE_SLICE_OFFSET) ||
	    half_at(table, at + PAGE_SLICE_COUNT) >= MIMALLOC_SPAN_MAX)
		return 0;
	return half_at(table, at + PAGE_SLICE_COUNT);
}

bool mimalloc_page_parse(const struct heap_bytes *table, remote_addr segment,
			 const struct mimalloc_layout *layout, uint32_t index,
			 struct mimalloc_page *out_page)
{
	const remote_addr at = entry_of(segment, layout, index);
	const bool has_start = layout->has_start;
	const uint32_t slices = mimalloc_span(table, segment, layout, index);
	const remote_addr keys = at + (has_start ? START_PAGE_KEY : PAGE_KEY);
	const remote_addr rest = keys + (layout->has_keys ? KEYS_BYTES : 0);

	if (!slices)
		return false;
	*out_page = (struct mimalloc_page){
		.at = at,
		.lo = segment + (uint64_t)index * MIMALLOC_SLICE_BYTES,
		.hi = segment + (uint64_t)(index + slices) * MIMALLOC_SLICE_BYTES,
		.start = has_start ? heap_bytes_word(table, at + START_PAGE_START) : 0,
		.block_bytes = has_start ? heap_bytes_word(table, at + START_PAGE_BLOCK_BYTES)
					 : half_at(table, at + PAGE_BLOCK_BYTES),
		.capacity = quarter_at(table, at + PAGE_CAPACITY),
		.reserved = quarter_at(table, at + PAGE_RESERVED),
		.used = has_start ? quarter_at(table, at + START_PAGE_USED)
				  : half_at(table, at + PAGE_USED),
		.is_retired = table->byte[at + PAGE_RETIRED - table->lo] >> 1,
		.free = heap_bytes_word(table, at + PAGE_FREE),
		.local_free = heap_bytes_word(
			table, at + (has_start ? START_PAGE_LOCAL_FREE : PAGE_LOCAL_FREE)),
		.thread_free = heap_bytes_word(table, rest) & ~(uint64_t)THREAD_FREE_FLAGS,
		.heap = heap_bytes_word(table, rest + MIMALLOC_WORD),
	};
	if (layout->has_keys) {
		out_page->key[0] = heap_bytes_word(table, keys);
		out_page->key[1] = heap_bytes_word(table, keys + MIMALLOC_WORD);
	}
	if (out_page->block_bytes == BLOCK_BYTES_HUGE)
		out_page->block_bytes = out_page->hi - out_page->lo;
	return out_page->block_bytes;
}

bool mimalloc_page_set_start(struct mimalloc_page *page, enum mimalloc_start rule)
{
	const uint64_t bytes = page->block_bytes, page_bytes = page->hi - page->lo;
	uint64_t offset = 0;

	if (rule == MIMALLOC_START_384 && bytes >= 8 && bytes <= 1024)
		offset = 384;
	else if (rule == MIMALLOC_START_128 && bytes >= 8 && bytes <= 1024)
		offset = 128;
	else if (rule == MIMALLOC_START_OF_SIZE && bytes >= 8)
		offset = bytes <= 64 ? 3 * bytes : bytes <= 512 ? bytes : 0;
	page->start = page->lo + offset;
	return page->reserved == (page_bytes - offset) / bytes;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Do the spans of slices fill the table, one after the other? */
static bool is_chain(const struct heap_bytes *table, remote_addr at,
		     const struct mimalloc_head *head, const struct mimalloc_layout *layout)
{
	uint64_t index = 0;

	while (index < head->entries) {
		const uint32_t count = mimalloc_span(table, at, layout, (uint32_t)index);

		if (!count || (!index && count != head->info_slices))
			return false;
		index += count;
	}
	return index == head->entries || (head->is_huge && index <= head->slices);
}

/* Can the first page that has blocks be one of this layout? end: of all memory. */
static bool fits(const struct heap_bytes *table, remote_addr at, const struct mimalloc_head *head,
		 const struct mimalloc_layout *layout, remote_addr end)
{
	for (uint32_t i = head->info_slices; i < head->entries;
	     i += mimalloc_span(table, at, layout, i)) {
		struct mimalloc_page page;
		bool has_rule = false;

		if (!mimalloc_page_parse(table, at, layout, i, &page) || !page.capacity)
			continue;
		/* keys are random; what is there in pages without are addresses */
		if (layout->has_keys && page.key[0] < end && page.key[1] < end)
			return false;
		if (layout->has_start)
			return page.start >= page.lo && page.start < page.hi;
		for (unsigned rule = 0; rule < MIMALLOC_STARTS && !has_rule; rule++)
			has_rule = mimalloc_page_set_start(&page, rule);
		return has_rule;
	}
	return false;
}

/* Entries of the table, as releases and their builds have them; the last but one is CPython's. */
static const struct {
	uint32_t bytes;
	bool has_start, has_keys;
} slice_kinds[] = {{80, false, false},
		   {96, true, false},
		   {96, false, true},
		   {96, false, false},
		   {112, true, true}};

bool mimalloc_table_parse(const struct heap_bytes *table, remote_addr at,
			  const struct mimalloc_head *head, remote_addr end,
			  struct mimalloc_layout *layout)
{
	if (layout->slice_bytes)
		return is_chain(table, at, head, layout);
	for (size_t i = 0; i < sizeof(slice_kinds) / sizeof(slice_kinds[0]); i++) {
		struct mimalloc_layout tried = *layout;

		tried.slice_bytes = slice_kinds[i].bytes;
		tried.has_start = slice_kinds[i].has_start;
		tried.has_keys = slice_kinds[i].has_keys;
		if (is_chain(table, at, head, &tried) && fits(table, at, head, &tried, end)) {
			*layout = tried;
			return true;
		}
	}
	return false;
}
