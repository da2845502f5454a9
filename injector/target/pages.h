/* SPDX-License-Identifier: MIT */
/*
 * pages.h - which pages of the target hold anything, so that what was only reserved need not be read.
 *
 * By PAGEMAP_SCAN, where the kernel has it (Linux 6.7): it steps over untouched terabytes at once. Else by /proc/PID/pagemap, a word a page; else every page
 * counts.
 */
#ifndef HI_PAGES_H
#define HI_PAGES_H

#include <stdbool.h>

#include "memory.h"

struct pages {
	int fd; /* -1: cannot be read */
	bool can_scan;
	uint64_t swapped; /* bytes of wanted pages that walks passed over, as they are swapped out */
};

void pages_open(struct pages *pages, pid_t pid, pid_t tid);
void pages_close(struct pages *pages);

/*
 * Calls visit for runs of pages in [lo, hi), whole pages, in order. with_files: also pages that are as their file has them, or shared; else only what the
 * target has written. Pages in swap are counted and not visited: to read one would bring it back in, for the target. Ends at the first error of visit, and
 * returns it.
 */
must_check int pages_walk(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files, int (*visit)(void *context, remote_addr at, uint64_t size),
			  void *context);

#endif
