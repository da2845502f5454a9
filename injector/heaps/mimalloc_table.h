/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_table.h - the table of a segment: its slices, and the pages that are made of them.
 */
#ifndef HI_MIMALLOC_TABLE_H
#define HI_MIMALLOC_TABLE_H

#include "mimalloc_layout.h"

struct mimalloc_page {
	remote_addr at;     /* its entry in the table */
	remote_addr lo, hi; /* its slices */
	remote_addr start;  /* of the first block; 0 = not known yet: layout->start */
	uint64_t block_bytes;
	uint32_t capacity;                         /* blocks that were ever made */
	uint32_t reserved;                         /* that there is room for */
	uint32_t used;                             /* with those that other threads have freed */
	remote_addr free, local_free, thread_free; /* first blocks of the lists */
	bool is_retired; /* all blocks are free, but it was kept, as its thread has no other */
	uint64_t key[2];
	remote_addr heap; /* 0: its thread is gone */
};

/* How many slices from this one on are a page, or free. 0: it is not the first of them. */
uint32_t mimalloc_span(const struct heap_bytes *table, remote_addr segment,
		       const struct mimalloc_layout *layout, uint32_t index);
/* The page whose first slice it is. False: these slices are free. */
bool mimalloc_page_parse(const struct heap_bytes *table, remote_addr segment,
			 const struct mimalloc_layout *layout, uint32_t index,
			 struct mimalloc_page *out_page);
/* Fills in where its blocks begin, by that rule. False: they cannot. */
bool mimalloc_page_set_start(struct mimalloc_page *page, enum mimalloc_start rule);

/*
 * Is it the table of the segment at `at`? Its bytes are from `at` + layout->table_at on. Fills in
 * slice_bytes, has_start and has_keys, if slice_bytes is 0. end: of all memory of the process.
 */
bool mimalloc_table_parse(const struct heap_bytes *table, remote_addr at,
			  const struct mimalloc_head *head, remote_addr end,
			  struct mimalloc_layout *layout);

#endif
