/* SPDX-License-Identifier: MIT */
/* glibc_bins.c - see glibc_bins.h. The layout is that of struct malloc_state, glibc 2.27 to 2.41.
 */
#include "glibc_bins.h"

#define WORD MARK_WORD_BYTES
/* of 127; fewer may be lists of something else that are built in the same way */
#define EMPTY_MIN 16u
#define BINS_BYTES (127u * 2 * WORD)
#define BEFORE_BYTES                                                                 \
	(14u * WORD) /* flags, lists of small chunks, the top and the last remainder \
		      */
#define CHUNK_HEAD_BYTES (2 * WORD)
#define CHUNK_BYTES_MIN 32u
#define CHUNK_ALIGNMENT 16u

/* The empty lists that were found. */
struct bins {
	uint64_t first, last; /* addresses */
	uint64_t count;
	uint64_t at, word; /* the word before the current one */
};

static void look(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct bins *bins = visitor;

	for (size_t i = 0; i < count; i++, at += WORD) {
		if (word[i] == bins->word && bins->at + WORD == at &&
		    bins->word + CHUNK_HEAD_BYTES == bins->at) {
			bins->first = bins->count++ ? bins->first : bins->at;
			bins->last = bins->at;
		}
		bins->at = at;
		bins->word = word[i];
	}
}

/* A chunk begins two words before its block, and has at least so many bytes. */
static bool is_next_chunk(const struct mark_block *block, uint64_t word)
{
	uint64_t size = (block->bytes + WORD + CHUNK_ALIGNMENT - 1) & ~(CHUNK_ALIGNMENT - 1ull);

	size = size < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : size;
	return word == block->address - CHUNK_HEAD_BYTES + size;
}

static void reach(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	(void)at;
	marks_words_but(visitor, word, count, is_next_chunk);
}

static uint64_t clamp(uint64_t value, uint64_t lo, uint64_t hi)
{
	return value < lo ? lo : value > hi ? hi : value;
}

int glibc_bins_mark_range(struct marks *marks, const struct mark_memory *memory, uint64_t lo,
			  uint64_t hi)
{
	const uint64_t begin = (lo + WORD - 1) / WORD * WORD;
	struct bins bins = {0};

	if (begin < lo || begin >= hi)
		return 0;
	int err = memory->walk(memory->context, begin, hi, look, &bins);
	if (err || bins.count < EMPTY_MIN || bins.last - bins.first > BINS_BYTES)
		return err ? err : marks_range(marks, memory, lo, hi);
	/* the first and the last list need not be empty */
	const uint64_t from = clamp(bins.last - BINS_BYTES - BEFORE_BYTES, begin, hi);
	const uint64_t to = clamp(bins.first + BINS_BYTES + WORD, from, hi);
	err = marks_range(marks, memory, begin, from);
	if (!err && from < to)
		err = memory->walk(memory->context, from, to, reach, marks);
	return err ? err : marks_range(marks, memory, to, hi);
}
