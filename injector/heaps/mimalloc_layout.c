/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_layout.c - see mimalloc_layout.h. The facts are those of struct mi_heap_s, mi_segment_s
 * and mi_page_s in include/mimalloc/types.h (before 2.1 include/mimalloc-types.h) of mimalloc.
 */
#include "mimalloc_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image_data.h"

/* The queues of a heap: first page, last page, size. mimalloc 3 counts their pages, too. */
#define QUEUE_WORDS 3u
#define QUEUE_WORDS_NEWER 4u
#define QUEUES_SEEN 14u
/* How far from its queues other words of a heap may be. */
#define WORDS_BEFORE 200u
#define WORDS_AFTER 280u
#define COOKIE_TO_THREAD 16u /* back; struct mi_heap_s */

static const uint16_t queue_bytes[QUEUES_SEEN] = {8,  8,  16, 24, 32,  40,  48,
						  56, 64, 80, 96, 112, 128, 160};

/* ---- the main heap --------------------------------------------------------------------------- */

static bool has_queues(const struct heap_bytes *data, remote_addr at, unsigned words)
{
	if (!heap_bytes_has(data, at, (uint64_t)QUEUES_SEEN * words * MIMALLOC_WORD))
		return false;
	for (unsigned i = 0; i < QUEUES_SEEN; i++)
		if (heap_bytes_word(data, at + ((i + 1) * words - 1) * MIMALLOC_WORD) !=
		    queue_bytes[i])
			return false;
	return true;
}

static int add_word(struct mimalloc_main *main, uint64_t word, uint64_t thread)
{
	if (main->count == main->room) {
		const size_t room = main->room ? 2 * main->room : 1024;
		struct mimalloc_word *grown = realloc(main->word, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		main->word = grown;
		main->room = room;
	}
	main->word[main->count++] = (struct mimalloc_word){word, thread};
	return 0;
}

/* The queues are at `queues`. */
static int add_heap(struct mimalloc_main *main, const struct heap_bytes *data, remote_addr queues)
{
	const uint64_t before = (uint64_t)WORDS_BEFORE * MIMALLOC_WORD;
	remote_addr at = queues - data->lo > before ? queues - before : data->lo;
	const remote_addr hi = queues + WORDS_AFTER * MIMALLOC_WORD;
	int err = 0;

	for (unsigned i = 0; i < QUEUES_SEEN; i++)
		main->was_used |=
			heap_bytes_word(data, queues + i * QUEUE_WORDS * MIMALLOC_WORD) != 0;
	for (; !err && at < hi && heap_bytes_has(data, at, MIMALLOC_WORD); at += MIMALLOC_WORD)
		/* random, and not the address of a segment */
		if (heap_bytes_word(data, at) >> 32 &&
		    heap_bytes_word(data, at) % MIMALLOC_SEGMENT_BYTES)
			err = add_word(main, heap_bytes_word(data, at),
				       heap_bytes_has(data, at - COOKIE_TO_THREAD, MIMALLOC_WORD)
					       ? heap_bytes_word(data, at - COOKIE_TO_THREAD)
					       : 0);
	return err;
}

static int compare_words(const void *a, const void *b)
{
	const struct mimalloc_word *left = a, *right = b;

	return left->word < right->word ? -1 : left->word > right->word;
}

int mimalloc_main_find(const struct heap_source *source, const struct elf_image *image,
		       struct mimalloc_main *out_main)
{
	struct image_data data = {0};
	int err = image->elf ? image_data_read(&data, source, image) : 0;

	*out_main = (struct mimalloc_main){0};
	for (size_t i = 0; i < data.count; i++) {
		const struct heap_bytes *bytes = &data.segment[i];

		for (remote_addr at = bytes->lo; !err && heap_bytes_has(bytes, at, MIMALLOC_WORD);
		     at += MIMALLOC_WORD) {
			if (has_queues(bytes, at, QUEUE_WORDS))
				err = add_heap(out_main, bytes, at);
			out_main->is_newer |= has_queues(bytes, at, QUEUE_WORDS_NEWER);
		}
	}
	image_data_close(&data);
	if (out_main->count)
		qsort(out_main->word, out_main->count, sizeof(*out_main->word), compare_words);
	return err ? err : out_main->count || out_main->is_newer ? 0 : -ENOENT;
}

void mimalloc_main_close(struct mimalloc_main *main)
{
	free(main->word);
	*main = (struct mimalloc_main){0};
}

/* ---- the head of a segment ------------------------------------------------------------------- */

static uint64_t word_at(const uint8_t *byte)
{
	uint64_t word;

	memcpy(&word, byte, sizeof(word));
	return word;
}

#define COOKIE_AT_MIN 64u
#define COOKIE_TO_COUNT_MAX 64u /* newer releases have links between the two */
#define INFO_SLICES_MAX 4u

/* struct mi_segment_s from segment_slices on */
#define COUNT_TO_INFO 8u
#define COUNT_TO_KIND 16u
#define COUNT_TO_ENTRIES 24u
#define COUNT_TO_THREAD 32u
#define COUNT_TO_TABLE 40u
#define USED_TO_COOKIE 8u

static bool has_counts(const uint8_t *byte, uint32_t at)
{
	const uint64_t slices = word_at(byte + at), info = word_at(byte + at + COUNT_TO_INFO);
	const uint32_t kind = (uint32_t)word_at(byte + at + COUNT_TO_KIND);
	const uint64_t entries = word_at(byte + at + COUNT_TO_ENTRIES);

	return info && info <= INFO_SLICES_MAX && slices > info && slices < MIMALLOC_SPAN_MAX &&
	       entries > info && entries <= MIMALLOC_SLICES_MAX &&
	       (kind ? kind == 1 && entries <= slices
		     : slices == MIMALLOC_SLICES_MAX && entries + 1 >= MIMALLOC_SLICES_MAX);
}

static bool find_places(const struct mimalloc_main *main, const uint8_t *byte, remote_addr at,
			struct mimalloc_layout *layout)
{
	for (uint32_t cookie_at = COOKIE_AT_MIN;
	     cookie_at + COOKIE_TO_COUNT_MAX + COUNT_TO_TABLE <= MIMALLOC_HEAD_BYTES;
	     cookie_at += MIMALLOC_WORD) {
		const struct mimalloc_word cookie = {.word = word_at(byte + cookie_at) ^ at};
		const struct mimalloc_word *found =
			bsearch(&cookie, main->word, main->count, sizeof(cookie), compare_words);

		if (!found)
			continue;
		for (uint32_t count_at = cookie_at + MIMALLOC_WORD;
		     count_at <= cookie_at + COOKIE_TO_COUNT_MAX; count_at += MIMALLOC_WORD)
			if (has_counts(byte, count_at)) {
				layout->cookie = cookie.word;
				layout->main_thread = found->thread;
				layout->cookie_at = cookie_at;
				layout->count_at = count_at;
				layout->table_at = count_at + COUNT_TO_TABLE;
				return true;
			}
	}
	return false;
}

bool mimalloc_head_parse(const struct mimalloc_main *main, const uint8_t *byte, remote_addr at,
			 struct mimalloc_layout *layout, struct mimalloc_head *out_head)
{
	if (!layout->cookie && !find_places(main, byte, at, layout))
		return false;
	const uint8_t *counts = byte + layout->count_at;

	if ((word_at(byte + layout->cookie_at) ^ at) != layout->cookie ||
	    !has_counts(byte, layout->count_at))
		return false;
	*out_head = (struct mimalloc_head){
		.slices = word_at(counts),
		.info_slices = (uint32_t)word_at(counts + COUNT_TO_INFO),
		.is_huge = (uint32_t)word_at(counts + COUNT_TO_KIND) == 1,
		.entries = (uint32_t)word_at(counts + COUNT_TO_ENTRIES),
		.thread = word_at(counts + COUNT_TO_THREAD),
		.used = word_at(byte + layout->cookie_at - USED_TO_COOKIE),
	};
	return out_head->used <= out_head->entries;
}
