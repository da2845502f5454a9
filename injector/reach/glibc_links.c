/* SPDX-License-Identifier: MIT */
/* glibc_links.c - see glibc_links.h. */
#include "glibc_links.h"

#define WORD MARK_WORD_BYTES
#define PAIR_BYTES (2 * WORD)
/* from its address to the pair of a large chunk's other sizes */
#define SIZES_BYTES (2 * PAIR_BYTES)

/* Is one of the two words at that address the address of a list? */
static bool has_list(struct glibc_links *links, uint64_t at)
{
	struct glibc_pair pair;
	bool has = false;

	if (glibc_pair_read(links->memory, at, &pair))
		return false;
	for (unsigned i = 0; i < 2 && !has; i++)
		if (glibc_bins_has_list(&links->bins, links->memory, pair.word[i], &has))
			return false;
	return has;
}

static bool is_link(void *context, const struct mark_block *block, uint64_t at, uint64_t word)
{
	const uint64_t pair_at = at - at % PAIR_BYTES;
	struct glibc_links *links = context;
	struct glibc_pair pair;

	if (!glibc_bins_is_next_chunk(block, word))
		return false;
	if (has_list(links, pair_at))
		return true;
	return word == pair_at - SIZES_BYTES && !glibc_pair_read(links->memory, pair_at, &pair) &&
	       pair.word[0] == pair.word[1] && has_list(links, pair_at - PAIR_BYTES);
}

struct mark_links glibc_links(struct glibc_links *links)
{
	return (struct mark_links){.is_link = is_link, .context = links};
}
