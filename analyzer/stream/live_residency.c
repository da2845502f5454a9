/* SPDX-License-Identifier: MIT */
/* live_residency.c - see live_residency.h. Start at live_residency_measure(). */
#include "live_residency.h"

#include "hi_page.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A word of /proc/PID/pagemap, one for each page */
#define WORD_PRESENT (1ull << 63)
#define WORD_SWAPPED (1ull << 62)

#define WINDOW_PAGES 32768u /* words that are read at once: 128 MB of addresses */
#define GAP_PAGES 64u       /* pages between two blocks that are read, too, to save a call */
/* pages that blocks cover, each with its own: 1 TiB. A stream can claim anything. */
#define PAGES_MAX (1ull << 28)
#define DIGIT_BITS 11u /* of a page's number, sorted by at once */
#define DIGITS (1u << DIGIT_BITS)

struct extent {
	uint64_t address, bytes;
	uint32_t part; /* or mapping */
};
struct measuring {
	int fd;
	struct profile *profile;
	struct extent *extent; /* in the order of their first pages */
	size_t count;
	uint64_t *word; /* of pages [first, end) */
	uint64_t first, end;
	uint64_t pages; /* that blocks covered so far */
	bool is_of_mappings;
};

static uint64_t first_page(const struct extent *extent)
{
	return extent->address / hi_page_bytes();
}

static uint64_t end_page(const struct extent *extent)
{
	return (extent->address + extent->bytes + hi_page_bytes() - 1) / hi_page_bytes();
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Nothing can be read of a process that has ended: the file is empty then. */
static int read_words(struct measuring *measuring, uint64_t first, uint64_t end)
{
	const size_t size = (size_t)(end - first) * sizeof(*measuring->word);
	ssize_t got;

	measuring->first = measuring->end = first;
	do
		got = pread(measuring->fd, measuring->word, size,
			    (off_t)(first * sizeof(*measuring->word)));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if ((size_t)got != size)
		return -ESRCH;
	measuring->end = end;
	return 0;
}

/* Reads from `page` on, which the block has, as far as this block and near ones go. */
static int read_run(struct measuring *measuring, size_t block, uint64_t page)
{
	uint64_t end = end_page(&measuring->extent[block]);

	for (size_t i = block + 1; i < measuring->count && end < page + WINDOW_PAGES; i++) {
		const struct extent *next = &measuring->extent[i];

		if (first_page(next) > end + GAP_PAGES)
			break;
		end = end_page(next) > end ? end_page(next) : end;
	}
	return read_words(measuring, page, end < page + WINDOW_PAGES ? end : page + WINDOW_PAGES);
}

/* ---- a block --------------------------------------------------------------------------------- */

static uint64_t bytes_in_page(const struct extent *extent, uint64_t page)
{
	const uint64_t lo = page * hi_page_bytes(), hi = lo + hi_page_bytes(),
		       end = extent->address + extent->bytes;

	return (end < hi ? end : hi) - (extent->address > lo ? extent->address : lo);
}

static void credit(struct measuring *measuring, uint32_t index, uint64_t resident, uint64_t swapped)
{
	struct profile *profile = measuring->profile;
	struct part *part = measuring->is_of_mappings ? NULL : &profile->breakdown.part[index];
	struct profile_row *row = part ? &profile->row[part->row] : &profile->mapping[index];

	row->resident_bytes += resident;
	row->swapped_bytes += swapped;
	if (!part)
		return;
	part->resident_bytes += resident;
	part->swapped_bytes += swapped;
}

static int measure_block(struct measuring *measuring, size_t index)
{
	const struct extent *extent = &measuring->extent[index];
	const uint64_t end = end_page(extent);
	uint64_t resident = 0, swapped = 0;
	int err = 0;

	measuring->pages += end - first_page(extent);
	if (measuring->pages > PAGES_MAX)
		return -E2BIG;
	for (uint64_t page = first_page(extent); page < end && !err; page++) {
		if (page < measuring->first || page >= measuring->end)
			err = read_run(measuring, index, page);
		if (err)
			break;
		const uint64_t word = measuring->word[page - measuring->first];
		if (word & WORD_PRESENT)
			resident += bytes_in_page(extent, page);
		else if (word & WORD_SWAPPED)
			swapped += bytes_in_page(extent, page);
	}
	credit(measuring, extent->part, resident, swapped);
	return err;
}

/* ---- all blocks ------------------------------------------------------------------------------ */

/* One pass of a radix sort, by DIGIT_BITS of the page from `shift` on; `first` is the lowest page.
 */
static void sort_by_digit(const struct extent *from, struct extent *to, size_t count,
			  uint64_t first, unsigned shift)
{
	size_t place[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[(first_page(&from[i]) - first) >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		const size_t here = place[i];

		place[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[(first_page(&from[i]) - first) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Comparing millions of blocks would take seconds. */
static int sort_by_page(struct measuring *measuring)
{
	struct extent *spare = malloc((measuring->count + 1) * sizeof(*spare));
	uint64_t first = UINT64_MAX, last = 0;

	if (!spare)
		return -ENOMEM;
	for (size_t i = 0; i < measuring->count; i++) {
		const uint64_t page = first_page(&measuring->extent[i]);

		first = page < first ? page : first;
		last = page > last ? page : last;
	}
	for (unsigned shift = 0; last > first && (last - first) >> shift; shift += DIGIT_BITS) {
		struct extent *const unsorted = measuring->extent;

		sort_by_digit(unsorted, spare, measuring->count, first, shift);
		measuring->extent = spare;
		spare = unsorted;
	}
	free(spare);
	return 0;
}

static int open_lists(struct measuring *measuring, size_t count)
{
	measuring->extent = malloc((count + 1) * sizeof(*measuring->extent));
	measuring->word = malloc(WINDOW_PAGES * sizeof(*measuring->word));
	return measuring->extent && measuring->word ? 0 : -ENOMEM;
}

static int measure_all(struct measuring *measuring)
{
	/* where there are no blocks, too, it is to be known whether there is a process */
	int err = read_words(measuring, 0, 1);

	if (!err)
		err = sort_by_page(measuring);
	for (size_t i = 0; i < measuring->count && !err; i++)
		err = measure_block(measuring, i);
	return err;
}

static int measure_blocks(struct measuring *measuring, const struct live *live)
{
	const struct live_block *block;
	const int err = open_lists(measuring, live->count);

	for (size_t at = 0;
	     !err && measuring->count < live->count && (block = live_next(live, &at));)
		if (block->bytes)
			measuring->extent[measuring->count++] =
				(struct extent){block->address, block->bytes, block->part};
	return err ? err : measure_all(measuring);
}

static int measure_pieces(struct measuring *measuring)
{
	const struct mapping_pieces *pieces = &measuring->profile->pieces;
	const int err = open_lists(measuring, pieces->count);

	for (size_t i = 0; !err && i < pieces->count; i++) {
		const struct mapping_piece *piece = &pieces->piece[i];

		measuring->extent[measuring->count++] = (struct extent){
			piece->lo, piece->hi - piece->lo, pieces->mapping[piece->mapping].row};
	}
	return err ? err : measure_all(measuring);
}

static void forget(struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++)
		profile->row[i].resident_bytes = profile->row[i].swapped_bytes = 0;
	for (size_t i = 0; i < profile->breakdown.count; i++)
		profile->breakdown.part[i].resident_bytes =
			profile->breakdown.part[i].swapped_bytes = 0;
}

static void forget_mappings(struct profile *profile)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		profile->mapping[i].resident_bytes = profile->mapping[i].swapped_bytes = 0;
}

static enum profile_residency residency_by(int err)
{
	switch (err) {
	case 0:
		return PROFILE_RESIDENCY_KNOWN;
	case -ESRCH:
		return PROFILE_RESIDENCY_GONE;
	case -E2BIG:
		return PROFILE_RESIDENCY_TOO_FAR;
	case -ENOMEM:
		return PROFILE_RESIDENCY_NO_MEMORY;
	default:
		return PROFILE_RESIDENCY_REFUSED;
	}
}

static void measuring_close(struct measuring *measuring)
{
	free(measuring->extent);
	free(measuring->word);
}

static void measure_mappings(int pagemap_fd, struct profile *profile)
{
	struct measuring measuring = {.fd = pagemap_fd, .profile = profile, .is_of_mappings = true};

	forget_mappings(profile);
	const int err = pagemap_fd < 0 ? -EBADF : measure_pieces(&measuring);
	if (err)
		forget_mappings(profile);
	profile->mapping_residency = residency_by(err);
	measuring_close(&measuring);
}

void live_residency_measure(const struct live *live, int pagemap_fd, struct profile *profile)
{
	struct measuring measuring = {.fd = pagemap_fd, .profile = profile};

	if (!pagemap_fd)
		return;
	forget(profile);
	const int err = pagemap_fd < 0 ? -EBADF : measure_blocks(&measuring, live);
	if (err)
		forget(profile);
	profile->meta.residency = residency_by(err);
	measuring_close(&measuring);
	if (profile->has_mappings)
		measure_mappings(pagemap_fd, profile);
}
