/* SPDX-License-Identifier: MIT */
/* arena_resident.c - see arena_resident.h. */
#include "arena_resident.h"

static int add(void *context, const struct page_run *run)
{
	struct arena_resident *sum = context;
	const uint64_t bytes = run->hi - run->lo;

	if (run->may_be_zeros)
		return 0;
	sum->anonymous += run->is_file ? 0 : bytes;
	sum->resident += run->is_swapped ? 0 : bytes;
	return 0;
}

void arena_resident_read(struct pages *pages, remote_addr lo, remote_addr hi,
			 struct arena_resident *out_resident)
{
	struct arena_resident sum = {0};

	/* without a descriptor every page would count */
	if (pages->fd < 0 || pages_visit(pages, lo, hi, true, add, &sum))
		sum = (struct arena_resident){0};
	*out_resident = sum;
}
