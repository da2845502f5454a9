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

static void look(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct glibc_bins *bins = visitor;

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

static bool is_found(const struct glibc_bins *bins)
{
	return bins->count >= EMPTY_MIN && bins->last - bins->first <= BINS_BYTES;
}

/* A chunk begins two words before its block, and has at least so many bytes. */
bool glibc_bins_is_next_chunk(const struct mark_block *block, uint64_t word)
{
	uint64_t size = (block->bytes + WORD + CHUNK_ALIGNMENT - 1) & ~(CHUNK_ALIGNMENT - 1ull);

	size = size < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : size;
	return word == block->address - CHUNK_HEAD_BYTES + size;
}

static void reach(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	(void)at;
	marks_words_but(visitor, word, count, glibc_bins_is_next_chunk);
}

static uint64_t clamp(uint64_t value, uint64_t lo, uint64_t hi)
{
	return value < lo ? lo : value > hi ? hi : value;
}

int glibc_bins_find_part(const struct mark_memory *memory, uint64_t lo, uint64_t hi,
			 struct glibc_bins_part *out_part)
{
	const uint64_t begin = (lo + WORD - 1) / WORD * WORD;
	struct glibc_bins bins = {0};

	*out_part = (struct glibc_bins_part){hi, hi};
	if (begin < lo || begin >= hi)
		return 0;
	const int err = memory->walk(memory->context, begin, hi, look, &bins);
	if (err || !is_found(&bins))
		return err;
	/* the first and the last list need not be empty */
	out_part->lo = clamp(bins.last - BINS_BYTES - BEFORE_BYTES, begin, hi);
	out_part->hi = clamp(bins.first + BINS_BYTES + WORD, out_part->lo, hi);
	return 0;
}

int glibc_bins_mark_range(struct marks *marks, const struct mark_memory *memory, uint64_t lo,
			  uint64_t hi)
{
	struct glibc_bins_part part;
	int err = glibc_bins_find_part(memory, lo, hi, &part);

	if (!err)
		err = marks_range(marks, memory, lo, part.lo);
	if (!err)
		err = mark_memory_walk(memory, part.lo, part.hi, reach, marks);
	return err ? err : marks_range(marks, memory, part.hi, hi);
}

/* ---- one list -------------------------------------------------------------------------------- */

static void take(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct glibc_pair *pair = visitor;

	for (size_t i = 0; i < count; i++)
		pair->word[(at - pair->at) / WORD + i] = word[i];
}

int glibc_pair_read(const struct mark_memory *memory, uint64_t at, struct glibc_pair *out_pair)
{
	*out_pair = (struct glibc_pair){.at = at};
	return at % WORD || at > UINT64_MAX - 2 * WORD
		       ? 0
		       : memory->walk(memory->context, at, at + 2 * WORD, take, out_pair);
}

/* In a list each refers to that which refers to it. */
static int is_linked(const struct mark_memory *memory, uint64_t list, bool *out_is)
{
	struct glibc_pair links, next, before;
	int err = glibc_pair_read(memory, list + CHUNK_HEAD_BYTES, &links);

	if (!err)
		err = glibc_pair_read(memory, links.word[0] + CHUNK_HEAD_BYTES, &next);
	if (!err)
		err = glibc_pair_read(memory, links.word[1] + CHUNK_HEAD_BYTES, &before);
	if (!err)
		*out_is = next.word[1] == list && before.word[0] == list;
	return err;
}

/* Can a list's first word be there, by the empty ones that were found? */
static bool may_have(const struct glibc_bins *bins, uint64_t at)
{
	return is_found(bins) && (at - bins->first) % (2 * WORD) == 0 &&
	       at + BINS_BYTES > bins->last && at < bins->first + BINS_BYTES;
}

int glibc_bins_has_list(struct glibc_bins *bins, const struct mark_memory *memory, uint64_t word,
			bool *out_has)
{
	const uint64_t at = word + CHUNK_HEAD_BYTES;

	*out_has = false;
	if (word % WORD || word < BINS_BYTES || word > UINT64_MAX - 2 * BINS_BYTES)
		return 0;
	if (!may_have(bins, at)) {
		*bins = (struct glibc_bins){0};
		const int err =
			memory->walk(memory->context, at - BINS_BYTES, at + BINS_BYTES, look, bins);
		if (err)
			return err;
	}
	return may_have(bins, at) ? is_linked(memory, word, out_has) : 0;
}
