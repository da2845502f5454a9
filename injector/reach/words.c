/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hi_page.h"

#define BUFFER_BYTES (256u << 10)
/* ranges from here on are asked about their pages first */
#define LARGE_BYTES (1u << 20)
/* What is kept: 4 MB at most. malloc() does not touch it, so that as much is used as is read. */
#define PIECE_BYTES (16u << 10)
#define PIECES 256u
#define PIECE_WORDS (PIECE_BYTES / MARK_WORD_BYTES)

struct walk {
	struct words *words;
	mark_visit *visit;
	void *visitor;
};

static int read_memory(struct words *words, uint64_t lo, void *into, uint64_t size)
{
	struct pages_range range = {.lo = lo, .byte = into, .size = size, .is_all = true};

	words->reads++;
	return words->is_sparing ? pages_read(&words->pages, words->memory, &range)
				 : memory_read(words->memory, lo, into, size);
}

static int read_some(const struct walk *walk, uint64_t lo, uint64_t size)
{
	struct words *words = walk->words;
	const int err = read_memory(words, lo, words->buffer, size);

	if (!err)
		walk->visit(walk->visitor, lo, words->buffer, size / MARK_WORD_BYTES);
	words->bytes += size;
	return err;
}

/* In pieces that are there or not as a whole. */
static int read_what_is_there(const struct walk *walk, uint64_t lo, uint64_t hi)
{
	int err = 0;

	while (lo < hi && !err) {
		const uint64_t page_end = (lo / HI_PAGE_BYTES + 1) * HI_PAGE_BYTES;
		const uint64_t end = page_end < hi ? page_end : hi;

		err = read_some(walk, lo, end - lo);
		if (err == -EFAULT)
			err = 0;
		lo = end;
	}
	return err;
}

static int walk_range(const struct walk *walk, uint64_t lo, uint64_t hi)
{
	int err = 0;

	while (hi - lo >= MARK_WORD_BYTES && !err) {
		uint64_t size = hi - lo < BUFFER_BYTES ? hi - lo : BUFFER_BYTES;

		size -= size % MARK_WORD_BYTES;
		if (clock_now_ns() >= walk->words->deadline_ns)
			return -ETIMEDOUT;
		err = read_some(walk, lo, size);
		if (err == -EFAULT)
			err = read_what_is_there(walk, lo, lo + size);
		lo += size;
	}
	return err;
}

/* ---- small ranges ---------------------------------------------------------------------------- */

/* What is not mapped becomes 0, which is no pointer. */
static int read_piece(struct words *words, uint64_t lo, uint64_t *piece)
{
	int err = read_memory(words, lo, piece, PIECE_BYTES);

	if (err != -EFAULT)
		return err;
	for (uint64_t at = 0; at < PIECE_BYTES; at += HI_PAGE_BYTES) {
		char *page = (char *)piece + at;

		err = read_memory(words, lo + at, page, HI_PAGE_BYTES);
		if (err && err != -EFAULT)
			return err;
		if (err)
			memset(page, 0, HI_PAGE_BYTES);
	}
	return 0;
}

/* The words of a piece, which begins at a multiple of its size. */
static int find_piece(struct words *words, uint64_t lo, const uint64_t **out_piece)
{
	const size_t place = lo / PIECE_BYTES % PIECES;
	uint64_t *piece = words->kept + place * PIECE_WORDS;

	if (words->kept_at[place] != lo + 1) {
		if (clock_now_ns() >= words->deadline_ns)
			return -ETIMEDOUT;
		words->kept_at[place] = 0;
		const int err = read_piece(words, lo, piece);
		if (err)
			return err;
		words->kept_at[place] = lo + 1;
	}
	*out_piece = piece;
	return 0;
}

static int walk_small(const struct walk *walk, uint64_t lo, uint64_t hi)
{
	hi -= hi % MARK_WORD_BYTES;
	while (lo < hi) {
		const uint64_t begin = lo - lo % PIECE_BYTES;
		const uint64_t size =
			hi - begin < PIECE_BYTES ? hi - lo : PIECE_BYTES - lo % PIECE_BYTES;
		const uint64_t *piece;
		const int err = find_piece(walk->words, begin, &piece);

		if (err)
			return err;
		walk->visit(walk->visitor, lo, piece + (lo - begin) / MARK_WORD_BYTES,
			    size / MARK_WORD_BYTES);
		walk->words->bytes += size;
		lo += size;
	}
	return 0;
}

/* ---- large ranges ---------------------------------------------------------------------------- */

static int visit_pages(void *context, remote_addr at, uint64_t size)
{
	return walk_range(context, at, at + size);
}

/*
 * Pages that are swapped out are not visited by pages_walk(). They may hold pointers, so that then
 * all is read.
 */
static int walk_large(struct walk *walk, uint64_t lo, uint64_t hi)
{
	struct pages *pages = &walk->words->pages;
	const uint64_t first = (lo + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();
	const uint64_t last = hi / hi_page_bytes() * hi_page_bytes(), swapped = pages->swapped;
	int err = walk_range(walk, lo, first);

	if (!err)
		err = pages_walk(pages, first, last, walk->words->is_shared, visit_pages, walk);
	if (!err && pages->swapped > swapped && !walk->words->is_sparing)
		err = walk_range(walk, first, last);
	return err ? err : walk_range(walk, last, hi);
}

static int walk(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor)
{
	struct walk walk = {context, visit, visitor};

	if (hi - lo <= PIECE_BYTES)
		return walk_small(&walk, lo, hi);
	return hi - lo >= LARGE_BYTES ? walk_large(&walk, lo, hi) : walk_range(&walk, lo, hi);
}

int words_open(struct words *words, const struct memory *memory, uint64_t deadline_ns)
{
	*words = (struct words){.memory = memory, .deadline_ns = deadline_ns};
	words->buffer = malloc(BUFFER_BYTES);
	words->kept = malloc((size_t)PIECES * PIECE_BYTES);
	words->kept_at = calloc(PIECES, sizeof(*words->kept_at));
	if (!words->buffer || !words->kept || !words->kept_at) {
		free(words->buffer);
		free(words->kept);
		free(words->kept_at);
		*words = (struct words){0};
		return -ENOMEM;
	}
	pages_open_of(&words->pages, memory);
	return 0;
}

void words_close(struct words *words)
{
	if (words->buffer)
		pages_close(&words->pages);
	free(words->buffer);
	free(words->kept);
	free(words->kept_at);
	*words = (struct words){0};
}

void words_forget(struct words *words)
{
	memset(words->kept_at, 0, PIECES * sizeof(*words->kept_at));
}

struct mark_memory words_memory(struct words *words)
{
	return (struct mark_memory){.walk = walk, .context = words};
}
