/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_trim.h - what mi_collect(true) gives back of a segment, if the main thread calls it:
 * then it collects its own segments and those whose thread is gone.
 *
 * A segment without a used page is given back as a whole. Of others only slices are that were due
 * to be given back: a mask in the segment. Releases whose pages say where they begin
 * look at the mask in any case; older ones do so if they free a page of the segment meanwhile, and
 * only the first time.
 */
#ifndef HI_MIMALLOC_TRIM_H
#define HI_MIMALLOC_TRIM_H

#include "mimalloc_table.h"

struct mimalloc_trim {
	remote_addr segment;
	struct mimalloc_head head;
	bool is_collected; /* by the main thread */
	bool looks_always; /* at the mask */
	/* no part of it is given back: of one block, or secure builds of 2.0, which make free
	 * parts inaccessible */
	bool is_whole;
	bool was_due; /* there is a time for the mask */
	uint64_t committed[MIMALLOC_SLICES_MAX / 64];
	uint64_t due[MIMALLOC_SLICES_MAX / 64];
	uint32_t free_pages;
	/* slices of no page: with them a page is joined that is freed, not with one freed later */
	uint64_t is_free[MIMALLOC_SLICES_MAX / 64];
	uint32_t first; /* slice of the page that is freed first */
	uint32_t first_slices;
	uint64_t first_order; /* of such pages, the least */
};

void mimalloc_trim_begin(struct mimalloc_trim *trim, remote_addr segment,
			 const struct mimalloc_head *head, const struct heap_bytes *table,
			 const struct mimalloc_layout *layout);
/* Slices of no page; or of a page of which all blocks are free. */
void mimalloc_trim_add(struct mimalloc_trim *trim, uint32_t index, uint32_t slices,
		       const struct mimalloc_page *page);
must_check int mimalloc_trim_end(struct mimalloc_trim *trim, const struct heap_visitor *visitor);

#endif
