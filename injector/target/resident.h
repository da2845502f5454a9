/* SPDX-License-Identifier: MIT */
/*
 * resident.h - which bytes of the target's own memory are in memory, and which are swapped out: of
 * private mappings, those pages that it has written to.
 *
 * Read once, without touching a page. What is not resident need not be read, and must not be: to
 * read it would bring it into the target's memory.
 */
#ifndef HI_RESIDENT_H
#define HI_RESIDENT_H

#include "pages.h"
#include "procfs.h"

struct resident {
	struct page_run *run; /* sorted, adjacent ones of a kind joined */
	size_t count, room;
	size_t near; /* the run that was found last */
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int resident_read(const struct memory *memory, const struct maps *maps,
			     struct resident *out_resident);
void resident_close(struct resident *resident);

struct resident_bytes {
	uint64_t resident, swapped;
	uint64_t huge; /* of resident, in huge pages */
};
/* Of [lo, hi). Fast if it is called for rising addresses. */
struct resident_bytes resident_bytes(struct resident *resident, remote_addr lo, remote_addr hi);

#endif
