/* SPDX-License-Identifier: MIT */
/* mimalloc_blocks.c - see mimalloc_blocks.h. */
#include "mimalloc_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_WHOLE_BYTES (1u << 20) /* pages that are larger have few blocks */

/* ---- links ----------------------------------------------------------------------------------- */

/* A link that was mixed with keys; no link is the address of `owner`. */
static remote_addr unmix(uint64_t word, const uint64_t key[2], remote_addr owner)
{
	const unsigned shift = key[0] % 64;
	const uint64_t turned = word - key[0];
	const remote_addr at = (shift ? turned >> shift | turned << (64 - shift) : turned) ^ key[1];

	return at == owner ? 0 : at;
}

static uint64_t mix(remote_addr at, const uint64_t key[2])
{
	const unsigned shift = key[0] % 64;
	const uint64_t word = at ^ key[1];

	return (shift ? word << shift | word >> (64 - shift) : word) + key[0];
}

static int add_address(remote_addr **list, size_t *count, size_t *room, remote_addr at)
{
	if (*count == *room) {
		const size_t more = *room ? 2 * *room : 64;
		remote_addr *grown = realloc(*list, more * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*list = grown;
		*room = more;
	}
	(*list)[(*count)++] = at;
	return 0;
}

/* ---- what heaps list ------------------------------------------------------------------------- */

/* struct mi_heap_s: its list and its keys, before its queues or after them */
#define HEAP_QUEUES_FIRST (8u + 129u * 8u) /* or a word more, in builds with padding */
#define HEAP_QUEUES_BYTES (75u * 24u)
#define HEAP_LIST_EARLY 8u
#define HEAP_LIST_TO_KEY 32u
#define DELAYED_MAX (1u << 18) /* of all heaps */

/* Where the heap has its list. 0: not known. */
static uint32_t list_offset(const struct heap_source *source, remote_addr heap)
{
	static const uint16_t queue_bytes[] = {8, 8, 16, 24, 32};
	struct heap_bytes bytes = {0};
	uint32_t offset = HEAP_LIST_EARLY;

	if (heap_bytes_read(&bytes, source, heap, HEAP_QUEUES_FIRST + 256))
		return 0;
	for (uint32_t queues = HEAP_QUEUES_FIRST; queues <= HEAP_QUEUES_FIRST + 8; queues += 8) {
		bool are_queues = true;

		for (unsigned i = 0; i < 5; i++)
			are_queues &= heap_bytes_word(&bytes, heap + queues + i * 24 + 16) ==
				      queue_bytes[i];
		if (are_queues)
			offset = queues + HEAP_QUEUES_BYTES;
	}
	heap_bytes_close(&bytes);
	return offset;
}

int mimalloc_delayed_add(struct mimalloc_delayed *delayed, const struct heap_source *source,
			 const struct mimalloc_layout *layout, remote_addr heap)
{
	uint64_t key[2] = {0};
	remote_addr block;
	uint32_t offset;
	int err;

	for (size_t i = 0; i < delayed->heap_count; i++)
		if (delayed->heap[i] == heap)
			return 0;
	err = add_address(&delayed->heap, &delayed->heap_count, &delayed->heap_room, heap);
	if (err || !heap)
		return err;
	offset = list_offset(source, heap);
	err = offset ? heap_word(source, heap + offset, &block) : -ENODATA;
	for (unsigned i = 0; i < 2 && !err && layout->has_keys; i++)
		err = heap_word(source, heap + offset + HEAP_LIST_TO_KEY + i * MIMALLOC_WORD,
				&key[i]);
	while (!err && block && block % MIMALLOC_WORD == 0 && delayed->count < DELAYED_MAX) {
		err = add_address(&delayed->block, &delayed->count, &delayed->room, block);
		if (!err)
			err = heap_word(source, block, &block);
		if (!err && layout->has_keys)
			block = unmix(block, key, heap);
	}
	return err == -ENODATA ? 0 : err;
}

static int compare_addresses(const void *a, const void *b)
{
	const remote_addr left = *(const remote_addr *)a, right = *(const remote_addr *)b;

	return left < right ? -1 : left > right;
}

void mimalloc_delayed_sort(struct mimalloc_delayed *delayed)
{
	if (delayed->count)
		qsort(delayed->block, delayed->count, sizeof(*delayed->block), compare_addresses);
}

void mimalloc_delayed_close(struct mimalloc_delayed *delayed)
{
	free(delayed->heap);
	free(delayed->block);
	*delayed = (struct mimalloc_delayed){0};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct lists {
	struct mimalloc_blocks *blocks;
	const struct heap_source *source;
	const struct mimalloc_layout *layout;
	const struct mimalloc_page *page;
	bool is_whole; /* all of the page was read */
};

/* Marks the block as free. False: it is none of this page, or was free already. */
static bool mark(struct lists *lists, remote_addr block)
{
	const struct mimalloc_page *page = lists->page;
	const uint64_t index = (block - page->start) / page->block_bytes;
	uint64_t *word;

	if (block < page->start || (block - page->start) % page->block_bytes ||
	    index >= page->capacity)
		return false;
	word = &lists->blocks->free[index / 64];
	if (*word >> index % 64 & 1)
		return false;
	*word |= 1ull << index % 64;
	lists->blocks->free_count++;
	return true;
}

static int read_link(struct lists *lists, remote_addr block, remote_addr *out_next)
{
	const struct heap_bytes *bytes = &lists->blocks->bytes;
	int err = 0;

	if (!lists->is_whole)
		err = heap_word(lists->source, block, out_next);
	else if (heap_bytes_has(bytes, block, MIMALLOC_WORD))
		*out_next = heap_bytes_word(bytes, block);
	else
		err = -ENODATA;
	if (!err && lists->layout->has_keys)
		*out_next = unmix(*out_next, lists->page->key, lists->page->at);
	return err == -ENODATA ? -EAGAIN : err;
}

/* All blocks of a list; a block cannot be in it twice, so that it ends. */
static int mark_list(struct lists *lists, remote_addr block, uint32_t *out_count)
{
	int err = 0;

	*out_count = 0;
	while (!err && block) {
		if (!mark(lists, block))
			return -EAGAIN;
		++*out_count;
		err = read_link(lists, block, &block);
	}
	return err;
}

/* What heaps list of this page. */
static void mark_delayed(struct lists *lists, const struct mimalloc_delayed *delayed)
{
	const struct mimalloc_page *page = lists->page;
	size_t low = 0, high = delayed->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (delayed->block[middle] < page->lo)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < delayed->count && delayed->block[low] < page->hi; low++)
		(void)mark(lists, delayed->block[low]);
}

static int make_room(struct mimalloc_blocks *blocks, uint32_t capacity)
{
	const size_t words = capacity / 64 + 1;

	if (words > blocks->room) {
		uint64_t *grown = realloc(blocks->free, words * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		blocks->free = grown;
		blocks->room = words;
	}
	memset(blocks->free, 0, words * sizeof(*blocks->free));
	blocks->free_count = 0;
	return 0;
}

int mimalloc_blocks_read(struct mimalloc_blocks *blocks, const struct heap_source *source,
			 const struct mimalloc_layout *layout, const struct mimalloc_page *page,
			 const struct mimalloc_delayed *delayed)
{
	const uint64_t bytes = page->capacity * page->block_bytes;
	struct lists lists = {.blocks = blocks, .source = source, .layout = layout, .page = page};
	uint32_t free = 0, local = 0, thread = 0;
	int err;

	if (page->start < page->lo || page->start > page->hi || bytes > page->hi - page->start ||
	    page->used > page->capacity || page->capacity > page->reserved)
		return -EAGAIN;
	err = make_room(blocks, page->capacity);
	if (!err && bytes <= READ_WHOLE_BYTES &&
	    (page->free || page->local_free || page->thread_free || layout->has_keys)) {
		lists.is_whole = true;
		err = heap_bytes_read(&blocks->bytes, source, page->start, bytes);
	}
	if (!err)
		err = mark_list(&lists, page->free, &free);
	if (!err)
		err = mark_list(&lists, page->local_free, &local);
	if (!err)
		err = mark_list(&lists, page->thread_free, &thread);
	if (!err)
		mark_delayed(&lists, delayed);
	return err                                                                   ? err
	       : free + local + page->used == page->capacity && thread <= page->used ? 0
										     : -EAGAIN;
}

/* struct mi_padding_s: a check, which is made of the block's address, and the number of bytes */
#define PADDING_BYTES 8u
#define CHECK_MASK 0xffffff00u /* newer releases leave the rest zero */

uint32_t mimalloc_blocks_tail(const struct mimalloc_blocks *blocks,
			      const struct heap_source *source,
			      const struct mimalloc_layout *layout,
			      const struct mimalloc_page *page, uint32_t index)
{
	const remote_addr block = page->start + index * page->block_bytes;
	const remote_addr at = block + page->block_bytes - PADDING_BYTES;
	uint64_t padding = 0;

	if (!layout->has_keys || page->block_bytes < PADDING_BYTES)
		return 0;
	if (page->capacity * page->block_bytes > READ_WHOLE_BYTES) {
		if (heap_word(source, at, &padding))
			return 0;
	} else if (heap_bytes_has(&blocks->bytes, at, PADDING_BYTES)) {
		padding = heap_bytes_word(&blocks->bytes, at);
	}
	if (((uint32_t)padding ^ (uint32_t)mix(block, page->key)) & CHECK_MASK ||
	    padding >> 32 > page->block_bytes - PADDING_BYTES)
		return 0;
	return (uint32_t)(padding >> 32) + PADDING_BYTES;
}

void mimalloc_blocks_close(struct mimalloc_blocks *blocks)
{
	heap_bytes_close(&blocks->bytes);
	free(blocks->free);
	*blocks = (struct mimalloc_blocks){0};
}
