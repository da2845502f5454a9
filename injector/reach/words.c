/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "hi_wire.h"

#define BUFFER_BYTES (256u << 10)
/* ranges from here on are asked about their pages first */
#define LARGE_BYTES (1u << 20)

struct walk {
	struct words *words;
	mark_visit *visit;
	void *visitor;
};

static int read_some(const struct walk *walk, uint64_t lo, uint64_t size)
{
	struct words *words = walk->words;
	const int err = memory_read(words->memory, lo, words->buffer, size);

	if (!err)
		walk->visit(walk->visitor, lo, words->buffer, size / MARK_WORD_BYTES);
	words->bytes += size;
	return err;
}

/* Page by page: of some there is nothing to read. */
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
	const uint64_t first = (lo + HI_PAGE_BYTES - 1) / HI_PAGE_BYTES * HI_PAGE_BYTES;
	const uint64_t last = hi / HI_PAGE_BYTES * HI_PAGE_BYTES, swapped = pages->swapped;
	int err = walk_range(walk, lo, first);

	if (!err)
		err = pages_walk(pages, first, last, false, visit_pages, walk);
	if (!err && pages->swapped > swapped)
		err = walk_range(walk, first, last);
	return err ? err : walk_range(walk, last, hi);
}

static int walk(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor)
{
	struct walk walk = {context, visit, visitor};

	return hi - lo >= LARGE_BYTES ? walk_large(&walk, lo, hi) : walk_range(&walk, lo, hi);
}

int words_open(struct words *words, const struct memory *memory, uint64_t deadline_ns)
{
	*words = (struct words){.memory = memory, .deadline_ns = deadline_ns};
	words->buffer = malloc(BUFFER_BYTES);
	if (!words->buffer)
		return -ENOMEM;
	pages_open(&words->pages, memory->pid, memory->tid);
	return 0;
}

void words_close(struct words *words)
{
	if (words->buffer)
		pages_close(&words->pages);
	free(words->buffer);
	*words = (struct words){0};
}

struct mark_memory words_memory(struct words *words)
{
	return (struct mark_memory){.walk = walk, .context = words};
}
