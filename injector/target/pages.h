/* SPDX-License-Identifier: MIT */
/*
 * pages.h - which pages of the target hold data, so that memory that was only reserved need not be
 * read.
 *
 * Uses PAGEMAP_SCAN where the kernel has it (Linux 6.7): it skips untouched terabytes at once.
 * Otherwise reads /proc/PID/pagemap, one word per page. If neither works, every page counts as
 * holding data.
 */
#ifndef HI_PAGES_H
#define HI_PAGES_H

#include <stdbool.h>

#include "memory.h"

struct pages {
	int fd; /* -1: cannot be read */
	bool can_scan;
	/* bytes of wanted pages that walks skipped because they are swapped out */
	uint64_t swapped;
};

void pages_open(struct pages *pages, pid_t pid, pid_t tid);
void pages_close(struct pages *pages);

/*
 * Calls visit, in order, for runs of whole pages in [lo, hi). with_files: also visits pages that
 * are unchanged from their file, or shared; without it only pages that the target has written.
 * Swapped-out pages are counted but not visited: to read one would bring it back into the target's
 * memory. Stops at the first error of visit and returns it.
 */
must_check int pages_walk(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files,
			  int (*visit)(void *context, remote_addr at, uint64_t size),
			  void *context);

#endif
